import sys, csv, json, torch, numpy as np
sys.path.insert(0,'/work/main/src')
from safetensors.torch import load_file
from regard.quality.network import QualityNetwork
from regard.models.transformer_layers import TransformerConfig
from regard.bundle.bundle import Bundle
from regard.bundle.find_model import find_model
from regard.bundle.bundled_models import folder_of
B=Bundle.load(find_model(folder_of()),'cpu')
W=B.model.source_embedding.weight.detach().clone(); W=W/W.std()
net=QualityNetwork(TransformerConfig(192,6,768,6,1,dropout=.05,norm='pre',positions='sinusoidal'),W); net.load_state_dict(load_file('/tmp/w/q192.safetensors')); net.eval()
T=B.tokenizer.plain
@torch.inference_mode()
def score(pairs, langs):
    """[(source,target)] , [(a,b)] -> sentence logits, list of token (ids, logits)"""
    out=[None]*len(pairs)
    S=T.source.encode([p[0] for p in pairs]); G=T.source.encode([p[1] for p in pairs])
    seqs=[[T.source.ids[f'<{a}>'],*s,2,T.source.ids[f'<{b}>'],*g,2] for s,g,(a,b) in zip(S,G,langs)]
    order=sorted(range(len(seqs)),key=lambda i:len(seqs[i]))
    for k in range(0,len(order),64):
        some=order[k:k+64]; n=max(len(seqs[i]) for i in some)
        x=torch.zeros(len(some),n,dtype=torch.long); 
        for r,i in enumerate(some): x[r,:len(seqs[i])]=torch.tensor(seqs[i])
        real=torch.arange(n)[None]<torch.tensor([len(seqs[i]) for i in some])[:,None]
        o=net(x,real)
        for r,i in enumerate(some): out[i]=(float(o[r,0,1]),S[i],G[i],o[r,1:1+len(S[i]),0].numpy(),o[r,3+len(S[i]):3+len(S[i])+len(G[i]),0].numpy())
    return out
def auc(v,w):
    v=np.asarray(v);w=np.asarray(w,bool); r=np.argsort(np.argsort(v)); return (r[w].sum()-w.sum()*(w.sum()-1)/2)/(w.sum()*(~w).sum())
from score import *
import pickle
from regard.translation.confidence import features, logistic_fit
out=pickle.load(open('/tmp/w/obs.pickle','rb'))
r=score([(x['source'],x['translation']) for x,_ in out],[tuple(x['direction'].split('-')) for x,_ in out])
F=[features(o) for _,o in out]
y=np.array([{'g':1,'m':.5,'w':0}[x['verdict']] for x,_ in out])
names=[n for n in F[0] if not n.startswith('back')]; back=list(F[0])
base=np.array([[f[n] for n in names] for f in F]); full=np.array([[f.get(n,0) for n in back] for f in F])
q=np.array([[x[0],x[4].max() if len(x[4]) else 0,x[3].max() if len(x[3]) else 0, np.log1p(np.exp(np.r_[x[3],x[4]])).sum()] for x in r])
def cv(X,k=10):
    Z=(X-X.mean(0))/np.maximum(X.std(0),1e-6); p=np.zeros(len(y)); f=np.arange(len(y))%k
    for i in range(k):
        b=logistic_fit(Z[f!=i],y[f!=i],np.ones((f!=i).sum())); p[f==i]=b[0]+Z[f==i]@b[1:]
    w,g=y==0,y==1; k2=w|g; gs=np.sort(-p[g])
    return auc(-p[k2],w[k2]),[round((-p[w]>gs[int((1-s)*len(gs))]).mean(),3) for s in (.03,.05,.1)]
print(len(y),'base',cv(base)); print('base+q',cv(np.c_[base,q])); print('base+sent',cv(np.c_[base,q[:,:1]])); print('back',cv(full)); print('back+q',cv(np.c_[full,q]))
