import sys; sys.path.insert(0,'/work/main/src')
import pickle, numpy as np
from regard.translation.confidence import features, logistic_fit
out=pickle.load(open('/tmp/w/obs.pickle','rb')); more=pickle.load(open('/tmp/w/more.pickle','rb'))
y=np.array([{'g':1,'m':.5,'w':0}[x['verdict']] for x,_ in out])
def auc(v,w):
    r=np.argsort(np.argsort(v)); return (r[w].sum()-w.sum()*(w.sum()-1)/2)/(w.sum()*(~w).sum())
rng=np.random.default_rng(0)
def report(n,p):
    w,g=y==0,y==1; k=w|g; gs=np.sort(-p[g])
    print(f"{n:40s} AUC {auc(-p[k],w[k]):.4f}",[f"{(-p[w]>gs[int((1-s)*len(gs))]).mean():.3f}" for s in (.01,.03,.05,.1)],flush=True)
def lr(Z,y,Zt): 
    b=logistic_fit(Z,y,np.ones(len(y))); return b[0]+Zt@b[1:]
def cv(X,fit=lr,k=10,reps=3):
    Z=(X-X.mean(0))/np.maximum(X.std(0),1e-6); tot=np.zeros(len(y))
    for r in range(reps):
        f=np.random.default_rng(r).permutation(len(y))%k
        p=np.zeros(len(y))
        for i in range(k): p[f==i]=fit(Z[f!=i],y[f!=i],Z[f==i])
        tot+=p
    return tot
F=[features(o) for _,o in out]
names=[n for n in F[0] if not n.startswith('back')]; back=list(F[0])
base=np.array([[f[n] for n in names] for f in F]); full=np.array([[f.get(n,0) for n in back] for f in F])
def L(x): return np.log(.05-np.minimum(0,x))
pmi=np.array([ (m['back']-m['uncond']).mean() for m in more]); 
un=np.array([m['uncond'].mean() for m in more])
minpmi=np.array([(m['back']-m['uncond']).min() for m in more]); minb=np.array([m['back'].min() for m in more])
q=lambda a,s: np.quantile(a,s)
bq=np.array([[q(m['back'],.1),q(m['back'],.25),(m['back']<-2).mean(),(m['back']<-5).sum()] for m in more])
fq=np.array([[m['fwd'].min(),q(m['fwd'],.1),q(m['fwd'],.25),(m['fwd']<-2).mean()] for m in more])
rare=np.array([[(np.where(m['uncond']<-6,np.minimum(m['back'],0),0)).sum(), (np.where(m['uncond']<-6,1,0)).sum()] for m in more])
fpm=np.array([[(m['fwd']-m['fu']).mean(),(m['fwd']-m['fu']).min(),m['fu'].mean()] for m in more])
rt=np.array([[m['rchrf'],m['rchrf']**2,m['rt'].strip().lower()==m['read'].strip().lower()] for m in more],float)
dirs=np.array([[x['direction']==d for d in ('en-fr','fr-en','en-de','de-en','en-es')] for x,_ in out],float)
if __name__=='__main__':
    report('base',cv(base)); report('base+fq',cv(np.c_[base,fq])); report('base+rt',cv(np.c_[base,rt]))
    report('base+fpm',cv(np.c_[base,fpm]))
    report('back',cv(full)); report('back+pmi',cv(np.c_[full,pmi,un,minpmi])); report('back+bq',cv(np.c_[full,bq,minb])); report('back+fq',cv(np.c_[full,fq]))
    report('back+rare',cv(np.c_[full,rare])); report('back+fpm',cv(np.c_[full,fpm])); report('back+rt',cv(np.c_[full,rt])); 
    report('back+all',cv(np.c_[full,pmi,un,minpmi,bq,minb,fq,rare,fpm,rt])); report('back+all+dir',cv(np.c_[full,pmi,un,minpmi,bq,minb,fq,rare,fpm,rt,dirs])); report('back+dir',cv(np.c_[full,dirs]))
