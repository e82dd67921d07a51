"""Slips that everybody makes, and words that look like slips and are none.

Invariant: no entry of `USUAL` is a word, and no word of the other sets is ever corrected.
"""

from __future__ import annotations

from semcache.request.text import vocabulary

# Slips so common that a rival as near says nothing.
USUAL: dict[str, str] = {
    slip: word.replace("_", " ")
    for slip, _, word in (
        pair.partition("=")
        for pair in vocabulary("""
teh=the arguement=argument maintainance=maintenance publically=publicly rythm=rhythm rythym=rhythm
tommorow=tomorrow truely=truly vaccum=vacuum vacumn=vacuum humourous=humorous hte=the adn=and nad=and wich=which
whcih=which hwo=how hwat=what waht=what wath=what wierd=weird untill=until lisence=license grammer=grammar
tounge=tongue comitee=committee commitee=committee explane=explain recepie=recipe recipie=recipe
suprise=surprise speach=speech beter=better verry=very becuse=because becasue=because wheter=whether
definetly=definitely definatly=definitely alot=a_lot noone=no_one thier=their ther=there realy=really
sieze=seize belive=believe recive=receive foward=forward buisness=business bussiness=business ammount=amount
allready=already tommorrow=tomorrow tomorow=tomorrow calandar=calendar enviroment=environment wensday=wednesday
febuary=february restaraunt=restaurant restuarant=restaurant questionaire=questionnaire
pronounciation=pronunciation mispell=misspell mispelled=misspelled heirarchy=hierarchy gaurd=guard
gaurantee=guarantee garantee=guarantee seprate=separate temperture=temperature temprature=temperature
vegatable=vegetable vegtable=vegetable exersise=exercise excercise=exercise exercize=exercise ocasion=occasion
ocassion=occasion tecnique=technique adress=address adresses=addresses occurence=occurrence occurance=occurrence
embarass=embarrass harrass=harass happend=happened taht=that thta=that tihs=this thsi=this whta=what wht=what
cna=can yuo=you yoru=your yuor=your wiht=with wtih=with hvae=have ahve=have haev=have wnat=want jsut=just
liek=like mkae=make amke=make knwo=know konw=know wehn=when hwen=when whne=when wher=where whree=where
hwere=where wyh=why tehre=there tehy=they shoudl=should woudl=would coudl=could shuold=should wuold=would
cuold=could shold=should abotu=about baout=about frmo=from fomr=from tiem=time tmie=time wrok=work owrk=work
peopel=people poeple=people becouse=because beacuse=because ofr=for nto=not htat=that tje=the yhe=the dse=does
deos=does whihc=which hoow=how hiw=how houw=how hpw=how wjat=what whay=what whwre=where wheer=where firts=first
frist=first lsat=last allways=always alwasy=always bewteen=between betwen=between beetween=between
diffrence=difference diference=difference differnce=difference diffrent=different diferent=different
differnt=different wihtout=without witout=without usefull=useful sucess=success succesful=successful
sucessful=successful begining=beginning writting=writing comming=coming runing=running swiming=swimming
stoping=stopping lenght=length strenght=strength hieght=height heigth=height widht=width wieght=weight
freind=friend freinds=friends neice=niece acheive=achieve decieve=deceive percieve=perceive cheif=chief
feild=field peice=piece yeild=yield rember=remember remeber=remember remmeber=remember libary=library
knowlege=knowledge knowlegde=knowledge goverment=government governemnt=government enviorment=environment
enviromental=environmental dissapear=disappear dissapoint=disappoint neccessary=necessary necesary=necessary
neccesary=necessary seperately=separately seperated=separated accomodate=accommodate accomodation=accommodation
accross=across agressive=aggressive apparantly=apparently basicly=basically cemetary=cemetery collegue=colleague
concious=conscious consciencious=conscientious curiousity=curiosity dilema=dilemma embarassing=embarrassing
existance=existence facinating=fascinating familar=familiar finaly=finally flourescent=fluorescent
foriegn=foreign fourty=forty furthur=further glamourous=glamorous idiosyncracy=idiosyncrasy
immediatly=immediately independant=independent inteligent=intelligent intresting=interesting intrest=interest
irresistable=irresistible liason=liaison liesure=leisure millenium=millennium minature=miniature
mischievious=mischievous misspel=misspell ninty=ninety noticable=noticeable occured=occurred occuring=occurring
paralel=parallel parliment=parliament persistant=persistent personel=personnel posession=possession
posess=possess prefered=preferred priviledge=privilege privelege=privilege probaly=probably probly=probably
proffesional=professional professer=professor recomend=recommend reccomend=recommend reccommend=recommend
referance=reference refering=referring relevent=relevant religous=religious resturant=restaurant
resteraunt=restaurant scedule=schedule shedule=schedule schedual=schedule sentance=sentence sincerly=sincerely
suprised=surprised suprising=surprising swimmng=swimming temperment=temperament tendancy=tendency
threshhold=threshold transfered=transferred twelth=twelfth tyrany=tyranny undoubtably=undoubtedly
unforseen=unforeseen unfortunatly=unfortunately usally=usually usualy=usually vaccuum=vacuum
vegeterian=vegetarian vehical=vehicle visable=visible volcanoe=volcano wether=whether whereever=wherever
postgers=postgresql
withold=withhold writen=written yatch=yacht zuchini=zucchini brocoli=broccoli tomatos=tomatoes potatos=potatoes
bannana=banana bananna=banana avacado=avocado expresso=espresso cappucino=cappuccino capuccino=cappuccino
spagetti=spaghetti mozarella=mozzarella parmesean=parmesan guacomole=guacamole pasword=password
passowrd=password acount=account accout=account subcription=subscription subsription=subscription cancell=cancel
delivary=delivery recieved=received reciept=receipt recipt=receipt adressed=addressed phyton=python
pyhton=python pythn=python javscript=javascript javasript=javascript funtion=function fucntion=function
fuction=function retrun=return medecine=medicine diarrea=diarrhea diarhea=diarrhea diabetis=diabetes
asthsma=asthma astma=asthma alergy=allergy alergic=allergic pnemonia=pneumonia hemmorhoids=hemorrhoids
kazakstan=kazakhstan
""")
    )
}
MODERN = vocabulary("""
    postgres postgresql sqlite mongodb
    kotlin nginx kubernetes xiaomi huawei redis mongo django golang kafka vuejs axios nuxt vite vitest scala julia
    grpc yaml toml json jsonb wasm mypy sklearn keras spacy nltk haskell tokio jenkins prisma figma tiktok deno zig
    erlang hadoop webpack eslint vercel supabase graphql chatgpt openai claude llama gemini mistral qwen deepseek
    perplexity tesla ebay venmo paypal zelle roku hulu ikea lego nike adidas spotify shopify airbnb uber lyft
    ozempic tylenol anki numpy scipy pandas pytest matplotlib seaborn plotly streamlit gradio fastapi uvicorn
    gunicorn starlette pydantic sqlalchemy alembic celery asyncio async await stdin stdout stderr printf scanf
    malloc calloc sizeof typedef enum enums struct structs args kwargs argv argc init param params regex regexp
    config configs repo repos refactor refactoring refactored middleware backend frontend fullstack devops gitops
    webhook webhooks websocket websockets localhost hostname username usernames filename filenames filepath dataset
    datasets dataframe dataframes timestamp timestamps datetime timezone timezones boolean booleans nullable nullptr
    iterable iterator iterators tuple tuples mutex mutexes goroutine goroutines lambda lambdas closure closures
    memoize memoization serverless microservice microservices monorepo terraform ansible vagrant podman dockerfile
    kubectl kubelet etcd istio envoy traefik haproxy memcached cassandra neo4j elasticsearch kibana logstash grafana
    prometheus datadog splunk snowflake databricks dbt airflow bigquery redshift dynamodb lambda fargate cloudfront
    cloudflare netlify heroku firebase firestore amplify hdfs hbase presto trino iceberg parquet avro protobuf
    thrift tensorflow pytorch jupyter colab kaggle huggingface langchain embeddings embedding tokenizer tokenizers
    tokenization transformer transformers autoencoder softmax relu sigmoid backprop backpropagation hyperparameter
    hyperparameters overfitting underfitting finetune finetuning xgboost lightgbm catboost sarsa dqn ppo rlhf lora
    qlora gpus tpus cuda rocm openmp mpi android iphone ipad macbook imac airpods pixel galaxy samsung motorola
    nokia lenovo asus acer toshiba panasonic nvidia radeon ryzen intel qualcomm snapdragon bluetooth wifi ethernet
    firewall vpn vpns router routers modem ssid minecraft roblox fortnite valorant overwatch zelda mario pokemon
    pikachu naruto anime manga hentai kpop bitcoin ethereum blockchain crypto cryptocurrency stablecoin defi nft
    nfts dogecoin solana coinbase binance instagram facebook whatsapp snapchat pinterest linkedin reddit tumblr
    youtube twitch netflix discord telegram wechat podcast podcasts vlog vlogger selfie selfies hashtag hashtags
    emoji emojis meme memes gif gifs influencer covid coronavirus omicron semaglutide metformin ibuprofen
    acetaminophen paracetamol naproxen lisinopril atorvastatin omeprazole sertraline fluoxetine escitalopram zoloft
    lexapro xanax adderall ritalin vyvanse wegovy mounjaro botox vegan vegans keto paleo quinoa kombucha kimchi
    sriracha tahini hummus sushi ramen matcha latte barista boba pho airbnb expedia ryanair easyjet lufthansa
    emirates qantas amtrak brexit biden obama trump putin zelensky modi macron email emails login logins logout
    signup website websites webpage webpages online offline internet smartphone smartphones laptop laptops download
    downloads upload uploads uploading spreadsheet spreadsheets startup startups freelancer freelancing crowdfunding
    cybersecurity malware ransomware phishing spyware infosec pentest mindfulness wellness cardio pilates crossfit
    burpee burpees deadlift deadlifts hiit gluten probiotics okay yeah yep nope gonna wanna gotta kinda lemme gimme
    dunno alot lol omg idk imo tbh linux ubuntu debian fedora centos gentoo xfce gnome wayland systemd grub bios
    uefi chmod chown grep curl wget sudo bash zsh tmux emacs vim neovim vscode pycharm intellij eclipse xcode cmake
    makefile gcc clang llvm rustc npm pnpm yarn bower gulp grunt rollup parcel esbuild babel jest mocha chai cypress
    selenium playwright puppeteer nestjs nextjs nodejs reactjs angularjs jquery bootstrap tailwind css html xml svg
    svelte ember redux zustand mobx rxjs lodash moment dayjs zod yup axios swr trpc laravel symfony codeigniter
    wordpress drupal joomla magento rails sinatra phoenix elixir clojure fsharp ocaml fortran cobol prolog matlab
    octave latex bibtex arduino raspberry esp32 stm32 verilog vhdl fpga sqlite mysql mariadb postgres postgresql
    psql oracle plsql tsql mssql nosql orm oauth saml jwt jwts cors csrf xss sql api apis url urls uri uris http
    https ssh sftp ftp smtp imap dns dhcp tcp udp linter linters formatter codebase codebases changelog readme
    dropdown checkbox checkboxes tooltip navbar sidebar favicon hotfix bugfix merge rebase rebasing stash gitignore
    fork clickable scrollable resizable responsive bool bools func funcs docstring docstrings functools renderable
    validator validators coord coords ident idents conftest fieldname embedder embedders fullname mtime ctime atime
    mixin mixins codec codecs util utils idna dunder isinstance stmt stmts proba awaitable awaitables declarator
    accessor accessors coro coros quantile quantiles conda hardlink hardlinks networkx readonly truthy falsy falsey
    popen musl parens paren superset supersets repr reprs xaxis yaxis mouseover userbase inout certifi scrypt uint
    bindir significand alloc dealloc realloc mixtral upcasting evals tostring ljust rjust contourf performant
    minimax lossy liveness subnet subnets subnetting openid algo algos calc trunc iters samp sprintf fprintf
    snprintf graphviz manpage manpages pyproject restic guid guids hotkey hotkeys symlink symlinks setter setters
    getter getters deps impl impls lerp addr addrs fopen popcount memcpy strlen strcmp errno stdlib stdio iostream
    cout cin println pprint itertools zope parso pygments colorama cupy logit logits argmax argmin arity monad
    monads functor functors currying ansi ascii utf chroot cron crontab daemonset tarball teardown typeof instanceof
    substr nargs href onclick flexbox datepicker unicast multicast anycast qubit qubits goroutines minify minified
    linting scraper crawlers keygen passphrase keystore truststore sandboxed sandboxing rollout rollouts infty bbox
    bboxes fastai asdict dedent llava bleu asin ddict minmax miter passwd hardcode hardcoded profiler profilers
    synset rint consolas textfile sturm rfile iinfo colno suff prefit nwhere thead tbody tfoot synsets tensor
    tensors matrices eigenvalue eigenvalues eigenvector laplacian jacobian hessian bayes bayesian markov poisson
    gaussian heteroscedasticity kurtosis quartile quartiles boxplot histogram histograms scatterplot
    gmail imessage evernote upsert upserts callee callees proxied proxying junit rsync inode inodes venv venvs faang
    ecommerce ussd docx xlsx pptx perf const
    """)
# Words of kitchens, gardens, workshops, sports and offices that the dictionary of frequencies lacks.
PRACTICAL = vocabulary("""
    repot repots repotted repotting deglaze deglazed deglazing spatchcock recaulk recaulking regrout regrouting
    defrag defragment unfollow unfollowed unfriend unsend unmute unmuted unmutes unzip unbox unboxing unpin unpinned
    unstage unstaged unarchive retweet retweets deload deloading superset supersets dropset bouldering slackline
    longboard longboarding kettlebell kettlebells decluttering declutter declutters upcycle upcycled upcycling
    thrifting glamping staycation hygge feng shui hangry brunch brunches airfryer sous vide ganache roux beurre
    bechamel aioli chimichurri gochujang panko tofu tempeh seitan edamame farro orzo arepas naan paneer ghee garam
    masala dal dosa biryani tikka laksa rendang satay banh onigiri udon soba miso dashi furikake mochi boba pierogi
    borscht kielbasa halloumi labneh zaatar harissa tagine shakshuka falafel shawarma baklava tzatziki gyro gyros
    souvlaki quiche souffle brioche croissant baguette focaccia ciabatta gnocchi risotto carbonara bolognese
    tiramisu gelato affogato prosciutto pancetta burrata mascarpone ricotta kefir skyr stevia xylitol erythritol
    inulin psyllium acai goji spirulina ashwagandha turmeric crochet crocheting amigurumi macrame decoupage knitters
    purl purling bobbin serger seersucker chambray tulle taffeta organza grommet grommets shim shims spackle drywall
    joist joists soffit fascia downspout downspouts backsplash wainscoting shiplap monstera pothos philodendron
    calathea hoya snapdragons hydrangea hydrangeas peony peonies dahlia dahlias begonia succulents perlite
    vermiculite mulching deadheading hugelkultur aquaponics hydroponic hydroponics vermicompost compostable mortise
    tenon dovetail dovetails rabbet dado kerf planer router jointer chamfer countersink deburr glycemic
    triglycerides statins biologics antiemetic antifungals probiotic prebiotic prebiotics melatonin serotonin
    dopamine oxytocin cortisol tinnitus sciatica plantar fasciitis rotator labrum meniscus bursitis tendonitis
    tendinitis shingles eczema psoriasis rosacea endometriosis fibromyalgia cataracts glaucoma keratosis melasma
    retinol retinoids niacinamide hyaluronic salicylic microblading amortization amortize escrow refinance
    refinancing overdraft overdrafts chargeback chargebacks payee payees autopay geoblock remortgage sublet sublets
    sublease subleasing furlough furloughed severance onboarding offboarding upskill upskilling timesheet timesheets
    rebook rebooking layover layovers stopover stopovers redeye carryon checkin preorder preorders restock restocked
    backorder preheat preheated reheat reheats thaw thawed rehydrate dehydrator caramelize braise braised braising
    sear searing saute sauteed parboil parboiled zest zesting knead kneading prove proofing autolyse levain
    sourdough proofed lacto kraut brine brining dethatch aerate aerating overseed overseeding limescale descaler
    grout caulk caulking sandpaper respray statin gratin moules merch redox heme swaddle swaddling rehoming rehome
    vape vapes vaping mocktail mocktails tshirt tshirts cukes
    """)
# Names of people, works, brands and sites that look like slips of a word.
STYLIZED = vocabulary("""
    tumblr flickr fiverr lyft grindr scribd digg reddit imgur trello etsy hulu roku vimeo gfycat xbox skype qatar
    kwik krispy kreme froot lucky dunkin febreze jello blu cheez kool chik fil quiznos swarovski gorillaz outkast
    ludacris megadeth mobb staind korn bizkit limp mudvayne chvrches deadmau skrillex diplo kesha beyonce rihanna
    halsey lizzo lorde sia adele dua bjork enya sade korean sematary happyness basterds inglourious thr33 sw4p wrld
    juice lil uzi xxxtentacion nicki minaj cardi tekashi offset quavo takeoff phish def leppard motley crue beatles
    monkees byrds eagles linkin blink slipknot disturbed godsmack trivium meshuggah opeth zappos wix zillow redfin
    trulia venmo zelle klarna affirm afterpay chime robinhood etoro revolut monzo starling nissan hyundai kia acura
    lexus infiniti subaru isuzu daewoo skoda seat dacia lada tata mahindra byd geely rivian lucid polestar smurf
    smurfs muppet muppets gremlins teletubbies pokemon digimon yugioh tamagotchi furby lego playmobil duplo stephan
    stefan steffen stephen stefano sean shaun shawn jon jonn geoff jeffery geoffrey marc erik eric karl carl kris
    cris katherine kathryn catherine cathryn kathleen sara sarah hanna hannah ana anna anne ann micheal michael
    mikael michel brian bryan bryon alan allan allen graeme graham philip phillip filip stuart stewart steven derek
    derrick neal neil niall lesley leslie francis frances louis lewis jayne jane lynne lynn debra deborah teresa
    theresa isabel isobel isabelle vivien vivian rachael rachel rebekah rebecca lindsay lindsey smythe smyth browne
    clarke greene moore whyte wylde grey gray reid reed read davies davis thomson thompson jonson johnson olsen
    olson anderson andersen hansen hanson jensen jenson larsen larson petersen peterson nielsen nelson christensen
    christiansen buffett alexa nespresso vinted ariba nist lsat chunnel carta crocs karne
    """)
