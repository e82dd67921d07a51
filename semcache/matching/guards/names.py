"""Names that mean something in lower case too: languages, countries, cities, currencies, products, with their aliases.

Data alone. Invariant: every alias maps to one canonical name; words that are more often ordinary words ("go", "apple",
"turkey") are left out, and are names only when a prompt capitalises them.
"""

from __future__ import annotations

from semcache.request.text import lexicon, vocabulary

_CANONICAL = """
python=py,python3|javascript=js|typescript=ts|java|kotlin|golang|rust|ruby|php|perl|scala|haskell|c++=cpp
c#=csharp|matlab
sql|mysql|postgresql=postgres|sqlite|mongodb=mongo|redis|oracle|mariadb|cassandra|elasticsearch|dynamodb|bigquery=bq
snowflake
react=reactjs|angular=angularjs|vue=vuejs|svelte|django|flask|fastapi|laravel|nodejs=node|nextjs|bootstrap
tailwind|jquery
numpy|pandas|pytorch|tensorflow|keras|spark|pyspark|hadoop|kafka|rabbitmq|docker|kubernetes=k8s|terraform|ansible
jenkins
sqlserver=mssql,tsql|powerbi|dax|jdk|vscode|rpi|amex
git|github|gitlab|bitbucket|aws|azure|gcp|heroku|vercel|netlify|linux|ubuntu|debian|fedora|centos|windows|macos=mac,macs,osx|bash
powershell|ios|android|iphone|ipad|macbook|samsung|pixel|xiaomi|huawei|nokia|sony|playstation|xbox|nintendo
google|facebook=fb|instagram=ig|twitter|whatsapp|telegram|tiktok|youtube|netflix|spotify|amazon|ebay|paypal|uber|lyft|airbnb
microsoft|ibm|intel|nvidia|amd|tesla|toyota|honda|bmw|mercedes|audi|volkswagen|linkedin|snapchat|reddit|quora|pinterest
gmail|outlook|yahoo|hotmail|slack|dropbox|excel|powerpoint|photoshop|illustrator|chrome|firefox|safari|wordpress=wp|shopify
chatgpt|openai|gemini|claude|llama|mistral|bitcoin=btc|ethereum=eth|dogecoin|litecoin
usa=us,u.s,america,american,americans|uk=britain,british,brit,brits,briton,britons|england=english_people|france=french|germany=german,germans
spain=spanish,spaniard,spaniards|italy=italian,italians|japan=japanese|china=chinese|india=indian,indians|russia=russian,russians
brazil=brazilian|canada=canadian,canadians|australia=australian|mexico=mexican|pakistan=pakistani|bangladesh
korea=korean|vietnam=vietnamese|thailand=thai|indonesia=indonesian|malaysia|singapore|philippines=filipino|nepal
sweden=swedish,swede,swedes|norway=norwegian|denmark=danish,dane,danes|finland=finnish,finn,finns|iceland|netherlands=dutch,holland|belgium=belgian
austria=austrian
switzerland=swiss|poland|portugal=portuguese|greece=greek,greeks|ireland=irish|scotland=scottish,scots|wales=welsh|ukraine=ukrainian
hungary=hungarian|romania=romanian|bulgaria|croatia|serbia|czech|egypt=egyptian|morocco|nigeria=nigerian|kenya=kenyan
ethiopia|ghana|israel=israeli|iran=iranian|iraq=iraqi|afghanistan|syria|lebanon|dubai|qatar|kuwait|argentina|chile|peru
colombia|venezuela|cuba|jamaica|zealand=nz|taiwan|mongolia|cambodia|tibet
albania=albanian|algeria=algerian|andorra|angola=angolan|armenia=armenian|azerbaijan=azerbaijani|bahamas=bahamian
bahrain=bahraini|barbados|belarus=belarusian|belize|benin|bhutan=bhutanese|bolivia=bolivian|bosnia=bosnian|botswana
brunei|burundi|cameroon=cameroonian|chad|comoros|congo=congolese|cyprus=cypriot,cypriots|djibouti|dominica
ecuador=ecuadorian|eritrea=eritrean|estonia=estonian,estonians|eswatini=swaziland|fiji=fijian|gabon|gambia
georgia=georgian|grenada|guatemala=guatemalan|guinea|guyana|haiti=haitian|honduras|jordan=jordanian|kazakhstan=kazakh
kiribati|kosovo|kyrgyzstan=kyrgyz|laos=lao,laotian|latvia=latvian,latvians|lesotho|liberia=liberian|libya=libyan
liechtenstein|lithuania=lithuanian,lithuanians|luxembourg|madagascar|malawi|maldives|mali|malta|mauritania|mauritius
micronesia|moldova=moldovan|monaco|montenegro|mozambique|myanmar=burma,burmese|namibia|nauru|nicaragua|niger|oman=omani
palau|panama|paraguay|rwanda|samoa=samoan|senegal|seychelles|slovakia=slovak|slovenia=slovene,slovenian|somalia=somali
sudan=sudanese|suriname|tajikistan=tajik|tanzania|togo|tonga|tunisia=tunisian|turkmenistan|tuvalu|uganda=ugandan
uruguay|uzbekistan=uzbek|vanuatu|vatican|yemen=yemeni|zambia|zimbabwe|greenland|macedonia=macedonian
palestine=palestinian|turkey=turkish,turk,turks
alabama|arkansas|connecticut|delaware|idaho|illinois|indiana|iowa|kansas|kentucky|louisiana|maine|maryland
massachusetts|minnesota|mississippi|missouri|montana|nebraska|oklahoma|pennsylvania|tennessee|utah|vermont|washington
wisconsin|wyoming
tallinn|riga|vilnius|minsk|sofia|bucharest|belgrade|zagreb|ljubljana|bratislava|warsaw|krakow|reykjavik|valletta|nicosia
tbilisi|yerevan|baku|tashkent|almaty|kabul|islamabad|kathmandu|hanoi|saigon|tehran|baghdad|damascus|beirut|amman
jerusalem|riyadh|jeddah|doha|muscat|algiers|tunis|tripoli|rabat|casablanca|marrakech=marrakesh|dakar|accra|abuja|kampala
kigali|harare|lusaka|luanda|maputo|lima|bogota|quito|caracas|montevideo|havana|lyon|marseille|toulouse|bordeaux
strasbourg|naples|turin|venice|florence|bologna|valencia|seville|malaga|porto|gdansk|frankfurt|cologne|stuttgart|leipzig
dresden|salzburg|basel|antwerp|ghent|rotterdam|utrecht|gothenburg|tampere|kharkiv|lviv|ankara|izmir|antalya|thessaloniki
nagoya|sapporo|busan|taipei|shenzhen|guangzhou|wuhan|ahmedabad|jaipur|lucknow|kochi|goa|peshawar|rawalpindi|adelaide
canberra|christchurch|ottawa|calgary|edmonton|winnipeg|quebec|tampa|pittsburgh|cleveland|cincinnati|milwaukee
minneapolis|sacramento|tucson|memphis|baltimore|honolulu
arabic|hindi|urdu|bengali|tamil|telugu|marathi|latin|hebrew|persian|english|mandarin|cantonese|swahili
leeds|bristol|liverpool|glasgow|birmingham|cardiff|belfast|sheffield|newcastle|nottingham|brighton|london|paris|berlin|munich|hamburg|rome=roman,romans|milan|madrid|barcelona|lisbon|vienna|prague|budapest|amsterdam|brussels|zurich
geneva|dublin|edinburgh|manchester|oslo|stockholm|copenhagen|helsinki|moscow|kyiv|istanbul|athens|cairo|tokyo
osaka|kyoto
beijing|shanghai|seoul|bangkok|jakarta|manila|delhi|mumbai|bangalore=bengaluru|chennai|kolkata|hyderabad|pune|karachi
lahore|dhaka|sydney|melbourne|brisbane|perth|auckland|toronto|vancouver|montreal|chicago|boston|seattle|denver|dallas
houston|austin|miami|atlanta|philadelphia|detroit|vegas|portland|orlando|nashville|lagos|nairobi|johannesburg
california=californian,californians|texas=texan,texans|florida=floridian|ohio|michigan|virginia|arizona|colorado|oregon|nevada|hawaii|alaska
europe=european,europeans|asia=asian,asians|africa=african,africans
ibuprofen=advil,nurofen,motrin|paracetamol=acetaminophen,tylenol,panadol,calpol|aspirin|amoxicillin=amoxil
metformin=glucophage|insulin|omeprazole=prilosec,losec|lisinopril=zestril,prinivil|atorvastatin=lipitor
warfarin=coumadin|prednisone|gabapentin=neurontin|sertraline=zoloft|fluoxetine=prozac|xanax=alprazolam
viagra=sildenafil|penicillin|azithromycin=zithromax|naproxen=aleve|pseudoephedrine=sudafed|cetirizine=zyrtec
loratadine=claritin|escitalopram=lexapro|citalopram=celexa|semaglutide=ozempic,wegovy|diazepam=valium
salbutamol=ventolin,albuterol|levothyroxine=synthroid
diabetes=diabetic|asthma|pneumonia|influenza=flu|covid|malaria|dengue|cholera|hepatitis|hiv|cancer|leukemia|migraine
hinduism|buddhism|islam=muslim,muslims|christianity=christian,christians|judaism|hindus
mercury|venus|mars|jupiter|saturn|uranus|neptune|pluto
fedex|ups|dhl|usps|visa|mastercard|obama|trump|clinton|modi|putin|biden
"""
ALIASES: dict[str, str] = {}
for _entry in _CANONICAL.replace("\n", "|").split("|"):
    _name, _, _others = _entry.partition("=")
    if _name:
        ALIASES[_name] = _name
        ALIASES.update({_other: _name for _other in _others.split(",") if _other})

del ALIASES["turkey"]  # a bird, too

# Phrases that are one name; the text is searched for them only when it holds the longest word of one.
PHRASES = {
    "world war i": "ww1",
    "world war 1": "ww1",
    "world war one": "ww1",
    "first world war": "ww1",
    "world war ii": "ww2",
    "world war 2": "ww2",
    "world war two": "ww2",
    "second world war": "ww2",
    "great war": "ww1",
    "new york city": "nyc",
    "new york": "nyc",
    "new zealand": "zealand",
    "new delhi": "delhi",
    "united states of america": "usa",
    "united states": "usa",
    "united kingdom": "uk",
    "great britain": "uk",
    "los angeles": "la",
    "san francisco": "sf",
    "san diego": "san diego",
    "hong kong": "hong kong",
    "las vegas": "vegas",
    "north korea": "north korea",
    "south korea": "south korea",
    "south africa": "south africa",
    "saudi arabia": "saudi arabia",
    "sri lanka": "sri lanka",
    "north dakota": "north dakota",
    "south dakota": "south dakota",
    "north carolina": "north carolina",
    "south carolina": "south carolina",
    "new hampshire": "new hampshire",
    "new jersey": "new jersey",
    "new mexico": "new mexico",
    "rhode island": "rhode island",
    "west virginia": "west virginia",
    "equatorial guinea": "equatorial guinea",
    "papua new guinea": "papua new guinea",
    "costa rica": "costa rica",
    "el salvador": "el salvador",
    "burkina faso": "burkina faso",
    "sierra leone": "sierra leone",
    "ivory coast": "ivory coast",
    "puerto rico": "puerto rico",
    "dr congo": "dr congo",
    "democratic republic of the congo": "dr congo",
    "south sudan": "south sudan",
    "guinea pig": "guinea pig",
    "visual studio code": "vscode",
    "vs code": "vscode",
    "visual studio": "visual studio",
    "sql server": "sqlserver",
    "power bi": "powerbi",
    "raspberry pi": "rpi",
    "american express": "amex",
    "google play store": "google play",
    "google play": "google play",
    "play store": "google play",
    "google mail": "gmail",
    "google cloud": "gcp",
    "node.js": "nodejs",
    "next.js": "nextjs",
    "vue.js": "vue",
    "high blood pressure": "hypertension",
    "low blood pressure": "hypotension",
}
PHRASE_CUES = frozenset(max(phrase.replace(".", " ").split(), key=len) for phrase in PHRASES)
ALIASES |= {"nyc": "nyc", "ww1": "ww1", "wwi": "ww1", "ww2": "ww2", "wwii": "ww2"}
# What stands for a listed name where it is written in capitals, and then is no name of its own: "CA" is California.
CAPITALISED = lexicon(
    "usa=state,states golang=go elasticsearch=es windows=win alabama=al alaska=ak arizona=az arkansas=ar california=ca"
    " colorado=co"
    " connecticut=ct delaware=de florida=fl georgia=ga hawaii=hi idaho=id illinois=il indiana=in iowa=ia kansas=ks"
    " kentucky=ky maine=me maryland=md massachusetts=ma michigan=mi minnesota=mn mississippi=ms missouri=mo montana=mt"
    " nebraska=ne nevada=nv new_hampshire=nh new_jersey=nj new_mexico=nm nyc=ny north_carolina=nc north_dakota=nd"
    " ohio=oh oklahoma=ok oregon=or pennsylvania=pa rhode_island=ri south_carolina=sc south_dakota=sd tennessee=tn"
    " texas=tx utah=ut vermont=vt virginia=va washington=wa west_virginia=wv wisconsin=wi wyoming=wy"
)
# What stands for a longer word in front of a name.
SHORT_FORMS = {"mt": "mount", "ft": "fort", "st": "saint"}
# Words that capitals do not make a name.
COMMON = vocabulary(
    """
i i'm i've i'd i'll ok okay pm am a an the and or but if then than so as at by for from in into of on to up with without
is are was were be been am do does did has have had can could will would shall should may might must not no yes what
what's who who's whom whose which where when why how it its it's this that these those there here they them their he she
his her him you your yours we us our my mine me please thanks thank hi hello hey dear tell give show explain describe
list write create make find get help need want let define compare name calculate compute convert translate summarize
also any all some most more much many other another each every one two first last next new best good bad top just only
even still now today about after before between during since until while because though although however internet web
english maths math science history god earth moon sun wifi mom dad sir madam faq asap rsvp aka diy id ids tv pc cv
btw fyi lol plz pls eta
president prime minister chief ceo chairman director professor dr mr mrs ms king queen team language inr usd eur
gbp rs rupee rupees
dollar dollars university
"""
)
