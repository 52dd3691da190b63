import sys,csv,pickle,time
sys.path.insert(0,'/work/main/src'); sys.path.insert(0,'/work/main/benchmarks')
from guard import *
rows=list(csv.DictReader(open('/work/main/benchmarks/judged/fit.tsv',encoding='utf-8'),delimiter='\t',quoting=csv.QUOTE_NONE))
out=[]; t=time.time()
for d in ('en-fr','fr-en','en-de','de-en','en-es','es-en'):
    some=[r for r in rows if r['direction']==d]
    w=TracedRow.of(Translator.load(Path('/work/main/src/regard/bundled')/d,'cpu','ctranslate2'))
    for r,a in zip(some,translated(w,[r['source'] for r in some])):
        if a and a[0].text==r['translation']: out.append((r,a[1]))
    print(d,len(out),time.time()-t,flush=True)
pickle.dump(out,open('/tmp/w/obs.pickle','wb'))
