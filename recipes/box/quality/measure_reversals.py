from score import *
sys.path.insert(0,'/work/main/benchmarks')
import random
import reversals as R
from pathlib import Path
D=Path('/work/main/data/general')
for o in ('fr','de','es'):
    base=[]
    for a,b in ((f'tests/flores-devtest.en',f'tests/flores-devtest.{o}'),(f'tests/tatoeba.en-{o}.en',f'tests/tatoeba.en-{o}.{o}'),(f'en-{o}/test.en',f'en-{o}/test.{o}'),(f'ui-en-{o}/test.en',f'ui-en-{o}/test.{o}')):
        base+=R.read_pairs(f'en-{o}',D/a,D/b,700)
    for P in (base,[R.Pair(t,s,(b,a)) for s,t,(a,b) in base]):
        rng=random.Random(1)
        r=score([p[:2] for p in P],[p.languages for p in P])
        clean=np.array([x[0] for x in r]); cm=np.array([max(x[4].max(),x[3].max()) if len(x[3]) and len(x[4]) else -9 for x in r])
        th=np.quantile(clean,.97); tm=np.quantile(cm,.97); lists=np.mean([bool(R.marks(p)) for p in P])
        line=[]
        for kind in R.KINDS:
            for known in (True,False):
                pl=list(R.planted(P,kind,known,100,rng))
                q=score([p.pair[:2] for p in pl],[p.pair.languages for p in pl])
                v=np.array([x[0] for x in q]); m=np.array([max(x[4].max(),x[3].max()) for x in q]); mk=np.array([bool(R.marks(p.pair)) for p in pl])
                line.append(f"{kind}{'K' if known else 'U'} {len(pl)}: sent {1-(v>th).mean():.0%} tok {1-(m>tm).mean():.0%} lists {1-mk.mean():.0%} auc {auc(np.r_[clean,v],np.r_[np.zeros(len(clean)),np.ones(len(v))]):.2f}")
        print(P[0].languages,len(P),f'lists alarm {lists:.1%}',*line,sep='\n  ',flush=True)
    
