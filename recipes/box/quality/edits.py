"""Edits a sentence so that its meaning changes: one kind of edit a sentence."""
import json, random, re, sys
TOK=re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*|\d+(?:[.,]\d+)*|\s+|.",re.S)
NUMW={'en':'two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred thousand million half first second third once twice both double'.split(),
'fr':'deux trois quatre cinq six sept huit neuf dix onze douze vingt trente cinquante cent mille million moitié premier première deuxième troisième double'.split(),
'de':'zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig fünfzig hundert tausend Millionen Hälfte ersten zweiten dritten einmal zweimal dreimal beide'.split(),
'es':'dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta cincuenta cien mil millones mitad primera segunda primero segundo tercero doble ambos'.split()}
MOD={'en':[['must','has to','have to','need to','needs to','is required to','are required to','is obliged to','was forced to','had to'],['may','can','might','could','is allowed to','are allowed to','is able to','was able to','is permitted to'],['should','ought to'],['will','is going to'],['cannot','must not','may not']],
'fr':[['doit','est obligé de','est contraint de','devra'],['peut','a le droit de','est autorisé à','pourra'],['doivent','sont obligés de'],['peuvent','sont autorisés à'],['dois'],['peux'],['devons'],['pouvons'],['devez'],['pouvez'],['il faut'],['on peut'],['devait'],['pouvait']],
'de':[['muss','soll'],['darf','kann'],['müssen','sollen'],['dürfen','können'],['musste','sollte'],['durfte','konnte'],['mussten','sollten'],['durften','konnten'],['musst'],['kannst','darfst'],['müsst'],['könnt']],
'es':[['debe','tiene que','está obligado a','ha de'],['puede','tiene derecho a'],['deben','tienen que'],['pueden','tienen derecho a'],['debo','tengo que'],['puedo'],['debemos','tenemos que'],['podemos'],['debía','tenía que'],['podía'],['hay que'],['se puede']]}
PAIR={'fr':{0:[1],2:[3],4:[5],6:[7],8:[9],10:[11],12:[13]},'de':{0:[1],2:[3],4:[5],6:[7],8:[9],10:[11]},'es':{0:[1],2:[3],4:[5],6:[7],8:[9],10:[11]},'en':{0:[1],1:[0,2],2:[1,0],3:[1,0],4:[0]}}
PRON={'en':[('I','he'),('I','you'),('he','she'),('we','they'),('me','him'),('him','her'),('us','them'),('my','his'),('his','their'),('our','their'),('you','they'),('your','my'),('I','they'),('we','you'),('her','my')],
'fr':[('je','il'),('nous','ils'),('vous','nous'),('il','elle'),('mon','son'),('ma','sa'),('notre','leur'),('votre','notre'),('me','le'),('nous','vous'),('tu','je'),('mes','ses'),('lui','leur')],
'de':[('ich','er'),('wir','ihr'),('ich','wir'),('er','sie'),('mich','ihn'),('mir','ihm'),('uns','euch'),('mein','sein'),('meine','seine'),('unsere','ihre'),('unser','euer'),('du','ich'),('ihm','ihr'),('dich','mich'),('sein','ihr')],
'es':[('mi','su'),('nuestro','su'),('nuestra','su'),('me','le'),('nos','les'),('yo','él'),('él','ella'),('tu','mi'),('te','me'),('nosotros','ellos'),('lo','la'),('nos','os')]}
VERBS={'en':r"is|are|was|were|will|would|can|could|should|must|may|might|has|have|had|do|does|did|am",
'fr':r"est|sont|était|étaient|a|ont|avait|avaient|sera|seront|peut|peuvent|doit|doivent|veut|va|vont|fait|font|suis|sommes|avons|faut|pouvons|devons|dit|prend|devient|reste|permet|donne|met|sait|existe|semble|vient|utilise|contient|aurait|serait|pourrait|devrait",
'de':r"ist|sind|war|waren|wird|werden|wurde|wurden|hat|haben|hatte|hatten|kann|können|konnte|muss|müssen|soll|sollen|darf|dürfen|will|wollen|möchte|bin|habe|würde|könnte|gibt|geht|kommt|macht|steht|liegt|bleibt|braucht",
'es':r"es|son|era|eran|fue|está|están|estaba|ha|han|había|puede|pueden|debe|deben|tiene|tienen|hay|será|serán|hace|quiere|va|van|he|hemos|podemos|tenemos|sería|podría|existe|parece|permite|dice|contiene|estoy|tengo|puedo|creo|quiero"}
def sub1(p,r,s,rng,flags=0):
    m=list(re.finditer(p,s,flags))
    if not m: return None
    m=rng.choice(m); return s[:m.start()]+m.expand(r)+s[m.end():]
def neg(s,l,rng):
    if l=='en':
        rem=[(r"\b(do|does|did|is|are|was|were|have|has|had|would|should|could|must|will|can)(?:n['’]t| not)\b",r"\1"),(r"\bcannot\b|\bcan['’]t\b","can"),(r"\bwon['’]t\b","will"),(r"\bnever\b","always"),(r"\bnothing\b","everything"),(r"\bnobody\b","everybody"),(r"\bno (?=[a-z])",rng.choice(["some ","a ","every "])),(r"\bnot ",""),(r"\bwithout\b","with")]
        add=[(rf"\b({VERBS[l]})\b(?! not|n['’]t)",r"\1 not"),(r"\b(I|[Ww]e|[Yy]ou|[Tt]hey) (?=[a-z]{3,}\b)(?!("+VERBS[l]+r")\b)",r"\1 don't "),(r"\balways\b","never"),(r"\bwith\b","without"),(r"\b[Ee]verybody\b","nobody"),(r"\beverything\b","nothing"),(r"\b(a|an|some|any|every) (?=[a-z])","no ")]
    elif l=='fr':
        rem=[(r"\bn(?:e |['’])(\w+) (?:pas|plus|jamais|guère)\b(?: de| d['’])?",r"\1"),(r"\bne (\w+ \w+) pas\b",r"\1"),(r"\bjamais\b","toujours"),(r"\bsans\b","avec"),(r"\bpersonne ne\b","tout le monde"),(r"\baucune? ","une "),(r" pas\b","")]
        add=[(rf"\b([Ii]l|[Ee]lle|[Cc]e|[Oo]n|[Qq]ui|[Cc]ela|[Jj]e|[Nn]ous|[Vv]ous|[Tt]u|[Ii]ls|[Ee]lles) (?!ne\b|n['’]|me\b|te\b|se\b|le\b|la\b|les\b|lui\b|y\b|en\b|nous\b|vous\b)([a-zéèê]{{2,}})\b",r"\1 ne \2 pas"),(rf"(?<!ne )(?<!n')(?<!n’)\b({VERBS[l]})\b(?! pas)(?!-)",lambda m:("n'" if m[0][0] in 'aeéêio' else 'ne ')+m[0]+' pas'),(r"\btoujours\b","jamais"),(r"\bavec\b","sans")]
    elif l=='de':
        rem=[(r"\bkein(e[nmrs]?)?\b",r"ein\1"),(r"\bKein(e[nmrs]?)?\b",r"Ein\1"),(r" nicht\b",""),(r"\bnie(?:mals)?\b","immer"),(r"\bnichts\b","alles"),(r"\bniemand\b","jeder"),(r"\bohne\b","mit")]
        add=[(r"\bein(e[nmrs]?)?\b",r"kein\1"),(r"\b(ist|sind|war|waren|wird|wurde|wurden|hat|haben|kann|muss|soll|darf|will|bin)\b(?! nicht| kein)",r"\1 nicht"),(r"(?<=[a-zäöü]{3})([.!])$",r" nicht\1"),(r"\bimmer\b","nie"),(r"\bmit\b","ohne"),(r"\balles\b","nichts")]
    else:
        rem=[(r"\b[Nn]o (?=\w)",""),(r"\bnunca\b","siempre"),(r"\bnada\b","todo"),(r"\bnadie\b","todos"),(r"\bsin\b","con"),(r"\bning[uú]na? ","un ")]
        add=[(rf"(?<!no )(?<!No )\b({VERBS[l]})\b",r"no \1"),(rf"\b(que|y|pero|si|cuando|yo|él|ella|Yo|Él|Ella|porque) (?!no\b|se\b|me\b|te\b|lo\b|la\b|el\b|los\b|las\b)([a-záéíóúñ]{{3,}}(?:a|e|o|an|en|mos|ó|é|á))\b",r"\1 no \2"),(r"\bsiempre\b","nunca"),(r"\bcon\b","sin"),(r"\btodo\b","nada")]
    order=rem+rng.sample(add,len(add)) if rng.random()<.6 else rng.sample(add,len(add))+rem
    for p,r in order:
        if callable(r):
            m=list(re.finditer(p,s))
            if m:
                m=rng.choice(m); return s[:m.start()]+r(m)+s[m.end():]
            continue
        f=sub1(p,r,s,rng)
        if f and f!=s: return f
def mod(s,l,rng):
    groups=list(enumerate(MOD[l])); rng.shuffle(groups)
    for g,words in groups:
        for w in words:
            p=rf"\b{w}\b"
            if re.search(p,s) and g in (PAIR[l] if l=='en' else {**PAIR[l],**{b:[a] for a,bs in PAIR[l].items() for b in bs}}):
                to=(PAIR[l] if l=='en' else {**PAIR[l],**{b:[a] for a,bs in PAIR[l].items() for b in bs}})[g]
                new=rng.choice(MOD[l][rng.choice(to)])
                return sub1(p,new,s,rng)
def num(s,l,rng):
    m=list(re.finditer(r"\d+",s))
    w=[x for x in re.finditer(r"\w+",s) if x[0] in NUMW[l]]
    if m and (not w or rng.random()<.6):
        m=rng.choice(m); d=m[0]; k=rng.random()
        if k<.35: n=str(int(d)+rng.choice((1,-1,2,10,-3,5))) if len(d)<9 else d[::-1]
        elif k<.6 and len(d)>1:
            i=rng.randrange(len(d)-1); n=d[:i]+d[i+1]+d[i]+d[i+2:]
        elif k<.8: i=rng.randrange(len(d)); n=d[:i]+str((int(d[i])+rng.randint(1,9))%10)+d[i+1:]
        elif k<.9: n=d+rng.choice('0015')
        else: n=d[:-1] or '7'
        if n.startswith('-'): n=n[1:]
        return None if n==d else s[:m.start()]+n+s[m.end():]
    if w:
        x=rng.choice(w); n=rng.choice([y for y in NUMW[l] if y!=x[0]]); return s[:x.start()]+n+s[x.end():]
def like(old,new): return new[:1].upper()+new[1:] if old[:1].isupper() and not new[:1].isupper() else new
def words(toks,near,l):
    out=[]
    first=True
    for i,t in enumerate(toks):
        if t[0].isalpha():
            k=t if t in near else t.lower()
            if k in near and (l=='de' or first or t[0].islower() or t in near): out.append((i,k))
            first=False
    return out
def sub(s,l,near,rng,count=1,far=.25):
    toks=TOK.findall(s); w=words(toks,near,l)
    if not w: return None
    for i,k in rng.sample(w,min(count,len(w))):
        c=near[k]; toks[i]=like(toks[i],rng.choice(c if rng.random()<far else c[:8]))
    return ''.join(toks)
def pron(s,l,rng):
    toks=TOK.findall(s); w=[]
    for a,b in PRON[l]:
        for x,y in ((a,b),(b,a)):
            w+=[(i,y) for i,t in enumerate(toks) if (t==x if x=='I' else t.lower()==x)]
    if not w: return None
    i,y=rng.choice(w); toks[i]=like(toks[i],y) if toks[i]!='I' or i==0 else y
    return ''.join(toks)
BY={'en':r'by','fr':r'par','de':r'von|durch','es':r'por'}
def swap(s,l,near,rng):
    """Two words of a class change places."""
    toks=TOK.findall(s)
    names=[i for i,t in enumerate(toks) if i>1 and t[0].isupper() and len(t)>2 and t not in near] 
    cand=[]
    if len(names)>1: cand.append(tuple(rng.sample(names,2)))
    w=words(toks,near,l); ids=dict(w)
    sets={i:set(near[k]) for i,k in w}
    pairs=[(i,j) for a,(i,ki) in enumerate(w) for j,kj in w[a+1:] if kj in sets[i] or ki in sets[j] or len(sets[i]&sets[j])>=3]
    if pairs: cand+=[rng.choice(pairs)]*2
    if l=='de':
        n=[i for i,k in w if toks[i][0].isupper() and i>0]
        if len(n)>1: cand.append(tuple(rng.sample(n,2)))
    if not cand: return None
    i,j=rng.choice(cand)
    if toks[i].lower()==toks[j].lower(): return None
    toks[i],toks[j]=like(toks[i],toks[j]) if i==0 else toks[j], toks[i] if i else toks[i].lower() if l!='de' else toks[i]
    return ''.join(toks)
def role(s,l,rng):
    P={'en':[(r"\b(I|we|he|she|they) (\w+) (me|us|him|her|them)\b",{'I':'me','we':'us','he':'him','she':'her','they':'them'})],
    'fr':[(r"\b(je|nous|il|elle|ils|tu|vous) (?:(me|te|le|la|nous|vous|les) )(\w+)",None)],'de':[],'es':[]}
    if l=='en':
        p,o=P['en'][0]; m=re.search(p,s)
        if m:
            inv={v:k for k,v in o.items()}
            return s[:m.start()]+inv[m[3]]+' '+m[2]+' '+o[m[1]]+s[m.end():]
    return None
def cut(s,l,rng):
    toks=TOK.findall(s); w=[i for i,t in enumerate(toks) if t[0].isalnum()]
    if len(w)<5: return None
    k=rng.random()
    if k<.45:
        c=[i for i in w[1:] if len(toks[i])>3 and (toks[i].islower() or l=='de')]
        if not c: return None
        i=rng.choice(c); del toks[i:i+2]
    elif k<.75:
        n=rng.randint(2,max(2,min(6,len(w)//3))); a=rng.randrange(1,len(w)-n); del toks[w[a]:w[a+n]]
    else:
        c=[i for i,t in enumerate(toks) if t in ',;:' and 2<i<len(toks)-4]
        if not c: return None
        i=rng.choice(c); end=toks[-1] if toks[-1] in '.!?' else ''
        toks=toks[:i]+[end]
    return ''.join(toks).replace('  ',' ')
def edit(s,l,near,rng):
    kinds=dict(sub=30,sub2=8,far=5,swap=12,neg=14,num=25,mod=22,cut=9,pron=9,role=20)
    if not re.search(r"\d",s) and not any(x in NUMW[l] for x in s.split()): kinds['num']=0
    for _ in range(4):
        k=rng.choices(list(kinds),kinds.values())[0]
        f={'sub':lambda:sub(s,l,near,rng),'sub2':lambda:sub(s,l,near,rng,2),'far':lambda:sub(s,l,near,rng,1,1.),'swap':lambda:swap(s,l,near,rng),'neg':lambda:neg(s,l,rng),'num':lambda:num(s,l,rng),'mod':lambda:mod(s,l,rng),'cut':lambda:cut(s,l,rng),'pron':lambda:pron(s,l,rng),'role':lambda:role(s,l,rng)}[k]()
        if f and f.strip() and f!=s: return k,f
        kinds[k]=0
    f=sub(s,l,near,rng)
    return ('sub',f) if f and f!=s else ('none','')
if __name__=='__main__':
    o=sys.argv[1]; most=int(sys.argv[2]) if len(sys.argv)>2 else 10**9
    near={l:json.load(open(f'/tmp/w/near.{l}.json',encoding='utf-8')) for l in ('en',o)}
    rng=random.Random(o)
    from collections import Counter
    c=Counter()
    with open(f'/tmp/w/edited.en-{o}.tsv','w',encoding='utf-8') as out:
        for n,line in enumerate(open(f'/tmp/w/rows.en-{o}.tsv',encoding='utf-8')):
            if n>=most: break
            a,b=line.rstrip('\n').split('\t')
            ka,ea=edit(a,'en',near['en'],rng); kb,eb=edit(b,o,near[o],rng)
            c[ka]+=1; c[o+kb]+=1
            out.write('\t'.join((ka,a,ea,kb,b,eb)).replace('\n',' ')+'\n')
    print(c,file=sys.stderr)
