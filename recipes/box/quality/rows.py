import random,re,sys
from pathlib import Path
D=Path('/work/main/data/general'); rng=random.Random(7)
def norm(s): return re.sub(r'[\W_]+',' ',s.lower()).strip()
held=set()
for n in ('fit.tsv','sentences.tsv','labels.tsv','first/sentences.tsv','reversals.tsv'):
    p=Path('/work/main/benchmarks/judged')/n
    if p.exists():
        for l in p.read_text(encoding='utf-8').split('\n')[1:]:
            for c in l.split('\t'): held.add(norm(c))
for p in D.glob('tests/*'): held|={norm(l) for l in p.read_text(encoding='utf-8').split('\n')}
for p in D.glob('*/*'):
    if p.stem in('dev','test') : held|={norm(l) for l in p.read_text(encoding='utf-8').split('\n')}
held.discard('')
print(len(held))
CAP={'news':12000,'wiki':8000,'games':14000,'games2':6000,'courses':7000,'manuals':13000,'openedx':5000,'openstax':9000,'mozilla':4000,'php':4000,'science':5000,'ui':9000,'esco':8000,'laws':7000,'vocab':6000,'names':1000,'tatoeba':50000,'pydocs':3000,'tldr':1000,'':50000}
only=sys.argv[1:]
for o in only:
    rows=[]
    for n,cap in CAP.items():
        d=D/(f'{n}-en-{o}' if n else f'en-{o}')
        if not (d/'train.en').exists(): print('none',d); continue
        t=list(zip((d/'train.en').read_text(encoding='utf-8').split('\n'),(d/f'train.{o}').read_text(encoding='utf-8').split('\n')))
        rng.shuffle(t)
        t=[(a.strip(),b.strip()) for a,b in t[:cap] if a.strip() and b.strip() and '\t' not in a+b and len(a)<350 and len(b)<350 and norm(a) not in held and norm(b) not in held and norm(a)!=norm(b)]
        rows+=t
    rng.shuffle(rows); print(o,len(rows))
    Path(f'/tmp/w/rows.en-{o}.tsv').write_text(''.join(f'{a}\t{b}\n' for a,b in rows),encoding='utf-8')
