#!/usr/bin/env python3
"""Makes chat templates at random, with what jinja2 renders.

  pip install jinja2==3.1.6
  make_templates.py --seed 7 --count 3000 --out cases.jsonl

The first line holds the variables (those of template-python.jsonl), then one
template per line with "expected" or "error". template-python.jsonl holds short
ones of several runs. Left out: texts with addresses of objects.
"""
import argparse
import datetime
import json
import random
import signal
from pathlib import Path

import jinja2
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

V2 = json.loads((Path(__file__).parent / "template-python.jsonl").read_text().split("\n")[0])["vars"]
R = random.Random()
names = list(V2)
filt1=["upper","lower","title","capitalize","trim","length","first","last","list","reverse","sort","unique|list","join","join('-')","string","int","float","abs","round","round(1)","round(2,'floor')","round(-1)","default('D')","default('D',true)","escape","e","safe","forceescape","striptags","wordcount","wordwrap(12)","wordwrap(9,false)","wordwrap(20,true,'|')","wordwrap(7,break_on_hyphens=false)","center(15)","indent","indent(2,true)","indent('>>',blank=true)","truncate(9)","truncate(7,true)","truncate(6,false,'~',0)","truncate(length=10,end='')","replace('o','0')","replace('','-',3)","replace(' ','')","urlencode","filesizeformat","filesizeformat(true)","tojson","tojson(indent=2)","tojson(ensure_ascii=true)","tojson(true)","tojson(separators=(',',':'))","tojson(sort_keys=true)","pprint","batch(2)|list","batch(3,'x')|list","slice(2)|list","slice(3,'f')|list","sum","min","max","dictsort","dictsort(false,'value')","items|list","groupby('k')|list","map('upper')|list","map('length')|list","map('string')|join","map(attribute='k')|list","map(attribute='a.b',default=0)|list","select|list","select('string')|list","select('number')|list","select('gt',1)|list","reject('none')|list","reject('in',[1,'a'])|list","selectattr('k','eq',1)|list","selectattr('role','in',['user'])|map(attribute='content')|join(',')","rejectattr('k')|list","xmlattr","format(1)","format('a','b')","attr('k')","urlize","urlize(10,true)","urlize(target='_b')","max(attribute='k')","sort(reverse=true)","sort(attribute='k')","sort(case_sensitive=true)","count","d('x')","map('tojson')|join","map('first')|list","sum(attribute='k')","list|length","list|tojson","items|length","map|list","nope","upper(1)","join(',',attribute='k')","length|string","lower|title","first|upper","last|string","map('int')|sum","map('float')|list","map('abs')|list","string|length","string|list|length","tojson|length","tojson|e","e|e","safe|e","e|string|e","e|upper","e|length"]
meth=["upper()","lower()","title()","capitalize()","casefold()","swapcase()","strip()","strip('a ')","lstrip()","rstrip('\\n')","split()","split(' ')","split(',',1)","rsplit(' ',1)","rsplit(None,1)","split(None,2)","split(sep='o')","split(maxsplit=1)","splitlines()","splitlines(true)","isdigit()","isalpha()","isalnum()","isspace()","isupper()","islower()","istitle()","isidentifier()","isnumeric()","isdecimal()","isprintable()","isascii()","replace('a','b')","replace('o','0',1)","find('o')","rfind('o')","index('o')","count('o')","startswith('H')","endswith(('d','n'))","startswith('e',1)","removeprefix('T')","removesuffix('e')","partition(' ')","rpartition(',')","center(30,'*')","ljust(12)","rjust(12,'.')","zfill(8)","expandtabs(4)","join(['a','b'])","join('xyz')","format(1,2)","translate({97:'A'})","items()","keys()|list","values()|list","get('a')","get('k',5)","index(1)","count(1)","copy()","is_integer()","bit_length()","items()|list","keys()","append(1)","format_map({'a':1})","maketrans({'a':'b'})","find('o',-5)","find('o',2,4)","count('l',0,3)","rindex('zz')"]
tests=["defined","undefined","none","string","mapping","number","integer","float","boolean","true","false","iterable","sequence","callable","sameas none","eq 3","ne 'a'","lt 5","gt 2","ge 3","le 3","in [3,'a']","odd","even","divisibleby 3","upper","lower","escaped","filter","test","== 3","> 1"]
lits=["1","0","-1","2.5","'a'","'x y'","''","true","none","[1,2]","['b','a']","{'a':1}","(1,'z')","[]","1e3","10","3","'%s'","0.1","7","'3'","\"<>\"","range(4)","missing","namespace(a=1)","'é'"]


def environment():
    """As transformers configures it."""
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env.filters["tojson"] = tojson
    env.globals["strftime_now"] = lambda f: datetime.datetime(2026, 7, 26, 14, 5, 9).strftime(f)
    return env


def atom(d):
    r=R.random()
    if r<.5: return R.choice(names)
    if r<.8 or d<=0: return R.choice(lits)
    if r<.9: return "("+expr(d-1)+")"
    return R.choice(["deep.a.b","msgs[0].role","msgs[-1]['tool_calls'][0].arguments","lm[0].k","d.a[0]","fl[2]","deep.l[1][1]","msgs[1:]","s[2:-1]","long[::3]","l[::-1]","deep['a']","msgs|length","cycler('a','b').next()","dict(a=1,b=n)","joiner(',')()"])
def expr(d):
    r=R.random()
    if d<=0: return atom(0)
    if r<.38: return atom(d)+"|"+R.choice(filt1)
    if r<.55: return atom(d)+"."+R.choice(meth)
    if r<.72: return expr(d-1)+" "+R.choice(["+","-","*","/","//","%","~","==","!=","<",">","<=",">=","in","not in","and","or","**"])+" "+expr(d-1)
    if r<.80: return "("+atom(d)+" is "+R.choice(["","not "])+R.choice(tests)+")"
    if r<.85: return R.choice(["not ","-","+"])+atom(d)
    if r<.90: return "("+expr(d-1)+" if "+expr(d-1)+R.choice([" else "+expr(d-1),""])+")"
    if r<.95: return "["+expr(d-1)+","+expr(d-1)+"]"
    return R.choice(["'%%%s%s%s%s' %% (%s,)"%(R.choice(["","-","0","+"," ","#"]),R.choice(["","5","12"]),R.choice(["",".2",".0"]),R.choice("sdrfgexoXiEGca%"),atom(d)),
      "'{:%s%s%s%s%s}'.format(%s)"%(R.choice(["","<",">","^","*^","0=","=","é<"]),R.choice(["","+"," ","-"]),R.choice(["","8","012","05"]),R.choice(["",",","_",".3",".0"]),R.choice(["","d","f","s","x","e","g","%","b","X","n","c","o"]),atom(d)),
      "'{0}{1!r}{x[a]}{x.b}'.format(%s,%s,x=d)"%(atom(d),atom(d)), "'%%(a)s %%(b)5s' %% {'a':%s,'b':%s}"%(atom(d),atom(d))])
def stmt(d):
    r=R.random()
    if d<=0 or r<.25: return R.choice(["{{ %s }}","{{- %s }}","{{ %s -}}","{{ %s }}\n"," {{%s}} "])%expr(2)
    b=lambda: R.choice(["","\n"," ","\n  ","x"])+stmt(d-1)+R.choice([""," ","\n","\n\n"])
    s=R.choice(["{%","{%-","{% ","  {%","\n{%","{%+"]); e=R.choice(["%}","-%}"," %}","%}\n","+%}"])
    def t(x): return s+" "+x+" "+e
    k=R.randrange(16)
    if k==0: return t("if "+expr(1))+b()+t("elif "+expr(1))+b()+t("else")+b()+t("endif")
    if k==1: return t("if "+expr(2))+b()+t("endif")
    if k==2: return t("for x in "+atom(1))+"{{ loop.index }}"+R.choice(["{{ x }}","{{ loop.first }}","{{ loop.last }}{{ loop.length }}","{{ loop.previtem }}","{{ loop.cycle('a','b') }}","{{ loop.changed(x) }}","{% if loop.index > 2 %}{% break %}{% endif %}","{% if loop.index is odd %}{% continue %}{% endif %}y"])+b()+t("else")+"E"+t("endfor")
    if k==3: return t("for x in "+atom(1)+"|"+R.choice(filt1)+" if "+R.choice(["x","x is string","loop is defined","x != 1"]))+"{{ x }}{{ loop.revindex }}"+t("endfor")
    if k==4: return t("set v = "+expr(2))+"{{ v }}{{ v is string }}"
    if k==5: return t("set v")+b()+t("endset")+"{{ v }}{{ v|e }}"
    if k==6: return t("macro m(a, b=%s)"%atom(0))+"{{ a }}{{ b }}{{ caller() if caller else '' }}"+b()+t("endmacro")+"{{ m(%s) }}"%R.choice(["1","1,2","a=1","b=2,a=1","","1,2,3","*[1,2]","**{'a':1}","1,c=2"])
    if k==7: return t("with v = "+expr(1))+"{{ v }}"+b()+t("endwith")+"{{ v }}"
    if k==8: return t("filter "+R.choice(["upper","e","trim","indent(2)","replace('a','b')|title","length","wordwrap(10)","striptags"]))+b()+t("endfilter")
    if k==9: return t("autoescape "+R.choice(["true","false"]))+b()+"{{ mk }}{{ mk|safe }}{{ mk ~ (mk|e) }}{{ ['<', mk|safe]|join(',') }}"+t("endautoescape")
    if k==10: return t("set ns = namespace(a=%s)"%atom(0))+t("set ns.b = "+expr(1))+"{{ ns.a }}{{ ns.b }}{{ ns.c }}"
    if k==11: 
        n="b%d"%R.randrange(1000)
        return t("block "+n+R.choice([""," scoped"]))+b()+t("endblock"+R.choice([""," "+n]))+R.choice(["","{{ self.%s() }}"%n])
    if k==12: return t("call"+R.choice(["","(q)"])+" mm(%s)"%atom(0))+"{{ q }}"+b()+t("endcall")
    if k==13: return "{% raw %} {{ x }} {% {%- endraw -%}"
    if k==14: return "{#"+R.choice([""," c ","-"])+"x"+R.choice(["","-"])+"#}"+b()
    return t("for k, v in "+R.choice(["d.items()","d|items","d|dictsort","tup","deep.items()","lm","msgs|map('items')"]))+"{{ k }}={{ v }};"+t("endfor")

def too_long(*_):
    raise TimeoutError


def case(env):
    """One case, or None when it is no good."""
    prelude = "{% macro mm(a) %}<{{ a }}{{ caller('Q') if caller }}>{% endmacro %}"
    t = "{{ " + expr(3) + " }}" if R.random() < .6 else prelude + stmt(3) + stmt(2)
    try:
        signal.alarm(3)
        text = env.from_string(t).render(**json.loads(json.dumps(V2)))
        signal.alarm(0)
    except (TimeoutError, MemoryError):
        return None
    except Exception as e:  # whatever Python raises is an error of ours, too
        signal.alarm(0)
        return None if "undefined" in str(e) and R.random() < .7 else {"template": t, "error": {"kind": type(e).__name__, "message": str(e)}}
    bad = len(text) > 20000 or any(s in text for s in ("at 0x", "<class", "safe_range"))
    return None if bad else {"template": t, "expected": text}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--seed", type=int, default=0)
    args.add_argument("--count", type=int, default=3000)
    args.add_argument("--out", required=True)
    args = args.parse_args()
    R.seed(args.seed)
    signal.signal(signal.SIGALRM, too_long)
    env, made = environment(), 0
    with open(args.out, "w", encoding="utf-8") as f:
        f.write(json.dumps({"vars": V2}, ensure_ascii=False) + "\n")
        while made < args.count:
            if c := case(env):
                f.write(json.dumps(c, ensure_ascii=False) + "\n")
                made += 1


if __name__ == "__main__":
    main()
