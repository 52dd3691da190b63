import sys,subprocess,os
from pathlib import Path
from concurrent.futures import ThreadPoolExecutor
sys.path.insert(0,'/work/main/recipes/box')
import chain_finish as c
write=sys.argv[1:] 
def one(way):
    fit,test=c.held_out(Path('data/general'),way)
    sets=[str(w) for flag,some in (('--fit',fit),('--test',test)) for x in some for w in (flag,*x)]
    out=open(f'/tmp/w/calib.{way}.log','w')
    subprocess.run(['.venv/bin/python','benchmarks/guard.py','--model',f'src/regard/bundled/{way}',*sets,'--sheet','benchmarks/judged/fit.tsv','--most','250','--engine','ctranslate2','--no-alarms','--keep',f'/tmp/w/keep/{way}',*write],stdout=out,stderr=out,env={**os.environ,'OMP_NUM_THREADS':'1'})
one('en-fr')
with ThreadPoolExecutor(2) as p: list(p.map(one,['fr-en','en-de','de-en','en-es','es-en']))
