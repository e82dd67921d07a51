"""Initialisms, clipped words and chat spellings, and the words that they stand for.

Invariant: an entry is read wherever it stands, so it is one whose other readings make no sense in the same question.
"""

from __future__ import annotations

_ANY_CASE = """
wld=would; cld=could; shld=should; cud=could; wud=would; shud=should; nlp=natural language processing
llm=large language model; llms=large language models; cfo=chief financial officer; cto=chief technology officer
coo=chief operating officer; cmo=chief marketing officer; roi=return on investment
kpi=key performance indicator; kpis=key performance indicators; seo=search engine optimization
saas=software as a service; iot=internet of things; vpn=virtual private network; vpns=virtual private networks
dns=domain name system; isp=internet service provider; isps=internet service providers
cpu=central processing unit; cpus=central processing units; gpu=graphics processing unit
gpus=graphics processing units; ui=user interface; ux=user experience; sdk=software development kit
api=application programming interface; apis=application programming interfaces; oop=object oriented programming
vr=virtual reality; crm=customer relationship management; mvp=minimum viable product; qa=quality assurance
eta=estimated time of arrival; adhd=attention deficit hyperactivity disorder
ptsd=post traumatic stress disorder; ocd=obsessive compulsive disorder; ibs=irritable bowel syndrome
uti=urinary tract infection; utis=urinary tract infections; stds=sexually transmitted diseases
copd=chronic obstructive pulmonary disease; cpr=cardiopulmonary resuscitation; mri=magnetic resonance imaging
hiv=human immunodeficiency virus; bmr=basal metabolic rate; icu=intensive care unit; ivf=in vitro fertilization
nato=north atlantic treaty organization; nasa=national aeronautics and space administration
fbi=federal bureau of investigation; cia=central intelligence agency; dmv=department of motor vehicles
fda=food and drug administration; imf=international monetary fund; wto=world trade organization
nba=national basketball association; nfl=national football league; mlb=major league baseball
mba=master of business administration; gpa=grade point average; ipo=initial public offering
ipos=initial public offerings; etf=exchange-traded fund; etfs=exchange-traded funds; apy=annual percentage yield
b2b=business to business; b2c=business to consumer; pov=point of view; ufo=unidentified flying object
ufos=unidentified flying objects; ev=electric vehicle; evs=electric vehicles; suv=sport utility vehicle
suvs=sport utility vehicles; sci-fi=science fiction; rom-com=romantic comedy
nda=non disclosure agreement; ngo=non governmental organization; ngos=non governmental organizations
cctv=closed circuit television; rna=ribonucleic acid; lng=liquefied natural gas
ppe=personal protective equipment; hoa=homeowners association; 2fa=two factor authentication
mfa=multi factor authentication; sso=single sign on; i18n=internationalization; a11y=accessibility; py=python
cpp=c++; mongo=mongodb; gdrive=google drive; insta=instagram; fb=facebook; yt=youtube
iirc=if i recall correctly; afaik=as far as i know; fwiw=for what it is worth; idk=i do not know
imo=in my opinion; imho=in my humble opinion; tbh=to be honest; lmk=let me know; ttyl=talk to you later
irl=in real life; nvm=never mind; omw=on my way; ty=thank you; thnks=thanks; thankyou=thank you
exam=examination; exams=examinations; lab=laboratory; labs=laboratories; gym=gymnasium; gyms=gymnasiums
bike=bicycle; bikes=bicycles; aeroplane=airplane; aeroplanes=airplanes
ad=advertisement; demo=demonstration; demos=demonstrations; memo=memorandum; memos=memorandums; limo=limousine
condo=condominium; condos=condominiums; undergrad=undergraduate; undergrads=undergraduates; univ=university
dorm=dormitory; dorms=dormitories; stats=statistics; econ=economics; psych=psychology; trig=trigonometry
maths=math; gov=government; assoc=association; corp=corporation; mfr=manufacturer; mfg=manufacturing
mgr=manager; mgrs=managers; asst=assistant; exec=executive; execs=executives; recs=recommendations
prolly=probably; obv=obviously; esp=especially; pg=page; pgs=pages; misc=miscellaneous; orig=original
prev=previous; num=number; nums=numbers; func=function; funcs=functions; var=variable; vars=variables
dirs=directories; envs=environments; cmd=command; cmds=commands; pkg=package; pkgs=packages; lib=library
libs=libraries; impl=implementation; auth=authentication; txt=text; txts=texts; pw=password
pswd=password; pword=password; addr=address; amt=amount; amts=amounts; txn=transaction
txns=transactions; rcvd=received; recd=received; meds=medications; jr=junior; ave=avenue; apt=apartment
apts=apartments; pkwy=parkway; mtg=meeting; mtgs=meetings; biz=business; svc=service; svcs=services
lang=language; langs=languages; vid=video; vids=videos; fave=favorite; fav=favorite; faves=favorites
resto=restaurant; bc=because; becos=because; 2nite=tonight; tonite=tonight; tmoro=tomorrow; gr8=great
nite=night; luv=love; srsly=seriously; outta=out of; sorta=sort of; lotta=lot of; lotsa=lots of; hafta=have to
oughta=ought to; coulda=could have; shoulda=should have; woulda=would have; tryna=trying to; imma=i am going to
wassup=what is up; yall=you all; hosp=hospital; approx=approximately; temps=temperatures; specs=specifications
docs=documentation; devs=developers; admin=administrator; admins=administrators
rehab=rehabilitation; detox=detoxification; decaf=decaffeinated; carbs=carbohydrates
carb=carbohydrate; bday=birthday; xmas=christmas; diff=difference; diffs=differences; gf=girlfriend
hubby=husband; dept=department; mos=months; cert=certificate; certs=certificates; quals=qualifications
ltr=letter; pymt=payment; pmt=payment; pymts=payments; natl=national; intro=introduction; mins=minutes
ammo=ammunition; chimp=chimpanzee; chimps=chimpanzees; gator=alligator; gators=alligators; taxi=taxicab
cpi=consumer price index; gdpr=general data protection regulation; kyc=know your customer
sla=service level agreement; slas=service level agreements; orm=object relational mapping; otp=one time password
dst=daylight saving time; ecg=electrocardiogram; ekg=electrocardiogram; gerd=gastroesophageal reflux disease
pcos=polycystic ovary syndrome; ssd=solid state drive; ssds=solid state drives; hdd=hard disk drive
gps=global positioning system; wfh=work from home; cli=command line interface; gui=graphical user interface
vm=virtual machine; vms=virtual machines; cdn=content delivery network; gmo=genetically modified organism
gmos=genetically modified organisms; rpm=revolutions per minute; cbt=cognitive behavioral therapy
hpv=human papillomavirus; ocr=optical character recognition; etl=extract transform load
erp=enterprise resource planning; dui=driving under the influence; cms=content management system
"""
_CAPITALS = """
ML=machine learning; HR=human resources; OS=operating system; ER=emergency room
NZ=new zealand; LA=los angeles; HK=hong kong; WHO=world health organization
MIT=massachusetts institute of technology; APR=annual percentage rate; EPA=environmental protection agency
IRS=internal revenue service; CDC=centers for disease control and prevention; PC=personal computer
RPG=role playing game; DNA=deoxyribonucleic acid; NY=new york; VP=vice president; PTO=paid time off
AWS=amazon web services; GCP=google cloud platform; UN=united nations
LOTR=lord of the rings; AOC=alexandria ocasio-cortez; MLK=martin luther king; JFK=john f kennedy
FDR=franklin d roosevelt; VAT=value added tax; ATM=automated teller machine; RV=recreational vehicle
"""


def _read(entries: str) -> dict[str, str]:
    pairs = [entry.split("=") for line in entries.strip().split("\n") for entry in line.split("; ")]
    return {short.strip(): plain.strip() for short, plain in pairs}


ANY_CASE: dict[str, str] = _read(_ANY_CASE)
CAPITALS: dict[str, str] = _read(_CAPITALS)
