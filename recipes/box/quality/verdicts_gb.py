import pickle,numpy as np
X,Xb,y=pickle.load(open('/tmp/w/X.pickle','rb'))
from sklearn.ensemble import HistGradientBoostingClassifier as H, RandomForestClassifier as RF
from sklearn.metrics import roc_auc_score
def run(n,X,make):
    tot=np.zeros(len(y))
    for r in range(3):
        f=np.random.default_rng(r).permutation(len(y))%10
        for i in range(10):
            k=(f!=i); 
            m=make(); XX=np.r_[X[k],X[k][y[k]==.5]]; yy=np.r_[(y[k]==1).astype(int),np.zeros((y[k]==.5).sum(),int)]; ww=np.r_[np.where(y[k]==.5,.5,1),np.full((y[k]==.5).sum(),.5)]
            yy[:k.sum()][y[k]==.5]=1
            m.fit(XX,yy,sample_weight=ww); tot[f==i]+=m.predict_proba(X[f==i])[:,1]
    w,g=y==0,y==1; gs=np.sort(tot[g]); print(n,roc_auc_score(g[w|g],tot[w|g]).round(4),[(tot[w]<gs[int(s*len(gs))]).mean().round(3) for s in (.01,.03,.05,.1)],flush=True)
for nm,Q in (('cheap',X),('all',Xb)):
    run(nm+' gb',Q,lambda:H(max_depth=3,learning_rate=.05,max_iter=150,l2_regularization=5,min_samples_leaf=30))
    run(nm+' rf',Q,lambda:RF(400,min_samples_leaf=8,n_jobs=2,max_features=.4))
