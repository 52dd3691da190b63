import sys,time; sys.path.insert(0,'/work/main/src'); sys.path.insert(0,'/work/main/benchmarks')
from guard import *
import regard
for name,f in (('flores','/work/main/data/general/tests/flores-devtest.en'),('tatoeba','/work/main/data/general/tests/tatoeba.en-de.en')):
    src=sample(Path(f),400)
    w=TracedRow.of(Translator.load(Path('/work/main/src/regard/bundled/en-de'),'cpu','ctranslate2'))
    tr=w.translator; p=w.pipeline; tok=tr.tokenizer
    def T(n,f,k=2):
        best=9e9
        for _ in range(k):
            a=time.time(); r=f(); best=min(best,time.time()-a)
        print(name,n,f'{best/len(src)*1000:.2f} ms/sentence'); return r
    res=T('translate full',lambda: tr.translate(src,split='lines'))
    T('translate no guard',lambda: tr.translate(src,split='lines',guard=False))
    T('translate thorough',lambda: tr.translate(src,split='lines',thorough=True))
    ids=tok.encode_source(src); reqs=[SearchRequest(tuple(i)) for i in ids]
    h=T('search',lambda:p.engine.search(reqs,SearchOptions(5,.6)))
    ans=[tok.decode(x[0].ids) for x in h]
    T('back',lambda:p.back_log_probs(list(zip(src,ans))))
    S=[p.engine.model.source_tokens((p.engine.model._ids['<en>'],*i)) for i in tok.plain.encode_source(ans)]
    tgt=[p.engine.model.target_tokens(i) for i in tok.encode_target(src)]
    def enc():
        return [r.result() for r in p.engine.model.translator.translate_batch(S,beam_size=1,max_decoding_length=1,max_batch_size=2048,batch_type='tokens',asynchronous=True,max_input_length=0)]
    T('encode only (1 step)',enc)
    def pre():
        return [r.result() for r in p.engine.model.translator.translate_batch(S,target_prefix=tgt,beam_size=1,max_decoding_length=1+max(map(len,tgt)),max_batch_size=2048,batch_type='tokens',use_vmap=True,asynchronous=True,max_input_length=0)]
    T('score_batch',lambda:p.engine.model.translator.score_batch(S,tgt,max_batch_size=2048,batch_type='tokens',max_input_length=0))
    T('score_batch 512',lambda:p.engine.model.translator.score_batch(S,tgt,max_batch_size=512,batch_type='tokens',max_input_length=0))
    print('tokens',sum(map(len,S))/len(S),sum(map(len,tgt))/len(S))
