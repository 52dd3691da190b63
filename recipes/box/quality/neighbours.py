"""Distributional neighbours of frequent words per language: PPMI of frequent context words at offsets -2..2, SVD."""
import re, sys, json, numpy as np
from collections import Counter
lang=sys.argv[1]
lines=open(f'/tmp/w/mono.{lang}',encoding='utf-8').read().split('\n')
step=max(1,len(lines)//500000); lines=lines[::step]
T=re.compile(r"[^\W\d_]+(?:[-][^\W\d_]+)*|\d+|[.,;:!?]")
toks=[]
for l in lines:
    w=T.findall(l)
    if w: w[0]=w[0] if lang=='de' else w[0].lower()
    toks.append(w)
c=Counter(x for w in toks for x in w)
V=[w for w,n in c.most_common(25000) if n>=8]; vid={w:i for i,w in enumerate(V)}
C=1200
ids=[]
for w in toks:
    ids.extend(vid.get(x,-1) for x in w); ids.extend((-1,-1))
a=np.array(ids,dtype=np.int64); del toks
n=len(V); M=np.zeros((n,4*C),dtype=np.float32)
for k,off in enumerate((-2,-1,1,2)):
    b=np.roll(a,-off); ok=(a>=0)&(b>=0)&(b<C)
    f=np.bincount(a[ok]*C+b[ok],minlength=n*C).reshape(n,C).astype(np.float32)
    M[:,k*C:(k+1)*C]=f
tot=M.sum(); pr=M.sum(1,keepdims=True); pc=M.sum(0,keepdims=True)**.75; pc*=tot/pc.sum()
M=np.log(np.maximum(M*tot/np.maximum(pr*pc,1e-9),1.0)); 
rng=np.random.default_rng(0)
Q=rng.standard_normal((M.shape[1],140)).astype(np.float32)
for _ in range(3):
    Y,_=np.linalg.qr(M@Q); Q,_=np.linalg.qr(M.T@Y)
E=M@Q; u,s,_=np.linalg.svd(E,full_matrices=False); E=(u*np.sqrt(s))[:,:120]
E/=np.maximum(np.linalg.norm(E,axis=1,keepdims=True),1e-6)
out={}
ok=np.array([len(w)>2 and w[0].isalpha() for w in V])
for i in range(0,n,1000):
    S=E[i:i+1000]@E.T; S[:,~ok]=-1
    for r in range(len(S)):
        w=V[i+r]
        if not ok[i+r] or i+r<60: continue
        top=np.argpartition(-S[r],40)[:40]; top=top[np.argsort(-S[r][top])]
        near=[V[j] for j in top if j!=i+r and j>=60 and V[j].lower()!=w.lower()]
        pref=w[:max(4,len(w)-3)].lower()
        near=[x for x in near if not x.lower().startswith(pref) and not w.lower().startswith(x[:max(4,len(x)-3)].lower())][:24]
        if len(near)>5: out[w]=near
json.dump(out,open(f'/tmp/w/near.{lang}.json','w',encoding='utf-8'),ensure_ascii=False)
print(lang,n,len(out))
for w in {'en':['tenant','deep','always','buy','kitchen','because'],'fr':['locataire','profond','acheter','cuisine'],'de':['Mieter','tief','kaufen','Küche'],'es':['inquilino','profundo','comprar','cocina']}[lang]: print(w,out.get(w,[])[:12])
