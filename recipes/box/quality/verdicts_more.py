"""Further signals on the verdict set: PMI of the source given the translation, round trip, forward token stats."""
import sys,csv,pickle,time
sys.path.insert(0,'/work/main/src'); sys.path.insert(0,'/work/main/benchmarks')
from guard import *
from regard.metrics.chrf import Chrf
out=pickle.load(open('/tmp/w/obs.pickle','rb')); res=[None]*len(out); t=time.time()
for d in ('en-fr','fr-en','en-de','de-en','en-es','es-en'):
    idx=[i for i,(r,_) in enumerate(out) if r['direction']==d]
    w=TracedRow.of(Translator.load(Path('/work/main/src/regard/bundled')/d,'cpu','ctranslate2'))
    tr=w.translator; p=w.pipeline; tok=tr.tokenizer
    F=[tr.forced_pair(out[i][0]['source'],out[i][0]['translation']) for i in idx]
    uncond=p.back_log_probs([(f.read,'.') for f in F])
    back=p.back_log_probs([(f.read,f.answer) for f in F])
    fwd=p.engine.log_probs([f.source_ids for f in F],[f.target_ids for f in F])
    fu=p.engine.log_probs([ (f.source_ids[0],*tok.plain.encode_source(['.'])[0]) for f in F],[f.target_ids for f in F])
    # round trip: translate the answer back, greedy
    bt=tok.source.ids[p.back_tag]
    reqs=[SearchRequest((bt,*x)) for x in tok.plain.encode_source([f.answer for f in F])]
    rt=[tok.decode(h[0].ids) for h in p.engine.search(reqs,SearchOptions(1,0.6))]
    m=Chrf(); c=m.scores(m.stats(rt,[f.read for f in F]).rows)/100
    for k,i in enumerate(idx): res[i]=dict(uncond=np.array(uncond[k]),back=np.array(back[k]),fwd=np.array(fwd[k]),fu=np.array(fu[k]),rt=rt[k],rchrf=float(c[k]),read=F[k].read)
    print(d,time.time()-t,flush=True)
pickle.dump(res,open('/tmp/w/more.pickle','wb'))
