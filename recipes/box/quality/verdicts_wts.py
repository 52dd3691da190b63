from fit import *
import sys,glob; sys.path.insert(0,'/work/main/benchmarks'); sys.path.insert(0,'/work/main/recipes/box')
import guard, pickle, __main__
for n in ('Measured','Answer'): setattr(__main__,n,getattr(guard,n))
import chain_finish as c
way=sys.argv[1]
fit,_=c.held_out(guard.Path('/work/main/data/general'),way)
sets=[pickle.load(open(f'/tmp/w/keep/{way}/{n}.pickle','rb')) for n,*_ in fit]
obs,lab=pickle.load(open('/tmp/w/keep/fit.pickle','rb'))
VF=[features(o) for o in obs]; vy=np.array(lab)
RF=[features(o) for s in sets for o in s.observations]; ry=np.array([q for s in sets for q in s.quality]); rs=np.concatenate([np.full(len(s.quality),1/len(s.quality)/len(sets)) for s in sets])
allf=list(VF[0]); cheap=[n for n in allf if not n.startswith('back')]
for nm,names in (('cheap',cheap),('thorough',allf)):
    X=np.array([[f[n] for n in names] for f in VF]); Xr=np.array([[f[n] for n in names] for f in RF])
    for wt in (1,3,10,1000):
        tot=np.zeros(len(vy))
        for rep in range(2):
            fo=np.random.default_rng(rep).permutation(len(vy))%10
            for i in range(10):
                k=fo!=i; XX=np.r_[X[k],Xr]; yy=np.r_[vy[k],ry]; sh=np.r_[np.full(k.sum(),wt/k.sum()),rs]; sh=sh/sh.sum()*len(XX)
                m,s=XX.mean(0),np.maximum(XX.std(0),1e-6); b=logistic_fit((XX-m)/s,yy,sh); tot[fo==i]+=b[0]+(X[fo==i]-m)/s@b[1:]
        w,g=vy==0,vy==1; kk=w|g; gs=np.sort(-tot[g])
        print(way,nm,'verdict weight',wt,f"AUC {auc(-tot[kk],w[kk]):.4f}",[f"{(-tot[w]>gs[int((1-q)*len(gs))]).mean():.3f}" for q in (.01,.03,.05,.1)],flush=True)
