"""British spellings and the American ones that stand for the same word.

Invariant: a pair is one word; where the other spelling is also another word ("draught", "spelt", "analyses") there is
no entry.
"""

from __future__ import annotations

from semcache.request.text import vocabulary

_OUR = vocabulary(
    """
    colour favour flavour humour honour labour neighbour rumour vapour odour armour harbour behaviour endeavour
    savour vigour parlour glamour tumour clamour fervour rigour splendour valour candour discolour demeanour
    misdemeanour
    """
)
_OUR_ENDINGS = (
    "",
    "s",
    "ed",
    "ing",
    "ful",
    "less",
    "able",
    "ably",
    "ite",
    "ites",
    "er",
    "ers",
    "hood",
    "hoods",
    "al",
    "ally",
    "y",
    "ly",
    "ation",
    "fully",
    "ist",
    "ists",
    "ism",
)
_ISE = vocabulary(
    """
    organis realis recognis optimis summaris memoris minimis maximis prioritis categoris customis emphasis
    apologis authoris specialis generalis finalis criticis analys paralys catalys normalis initialis serialis
    deserialis standardis visualis utilis characteris symbolis modernis legalis localis globalis monetis digitis
    sanitis sterilis stabilis synchronis synthesis vectoris randomis tokenis containeris virtualis parallelis
    parameteris personalis popularis reorganis hypnotis hospitalis immunis industrialis colonis civilis capitalis
    centralis decentralis computeris crystallis democratis dramatis energis equalis familiaris fertilis formalis
    harmonis humanis idealis idolis itemis jeopardis liberalis materialis mechanis mesmeris militaris mobilis
    motoris nationalis naturalis neutralis oxidis patronis penalis philosophis polaris pressuris privatis publicis
    rationalis revolutionis romanticis satiris scrutinis socialis stigmatis subsidis sympathis systematis tantalis
    temporis terroris theoris trivialis vandalis verbalis victimis vocalis westernis winteris moisturis mineralis
    caramelis tenderis pasteuris fossilis urbanis politicis internalis externalis internationalis contextualis
    conceptualis operationalis linearis discretis factoris quantis regularis binaris anonymis modularis denormalis
    uninitialis unauthoris disorganis unrecognis
    """
)
_ISE_ENDINGS = ("e", "ed", "es", "ing", "er", "ers", "ation", "ations", "able", "ational")
_DOUBLED = vocabulary(
    """
    travel cancel label model signal fuel counsel level marvel tunnel quarrel equal dial channel panel pedal jewel
    total unravel bevel chisel duel funnel grovel initial libel revel shovel shrivel snivel spiral stencil swivel
    towel trial barrel rival medal carol marshal pencil snorkel tassel yodel enamel remodel relabel mislabel
    """
)
_SINGLE: dict[str, str] = dict(
    pair.split("=")
    for pair in vocabulary(
        """
    centre=center centres=centers centred=centered centring=centering theatre=theater theatres=theaters
    metre=meter metres=meters litre=liter litres=liters fibre=fiber fibres=fibers calibre=caliber sombre=somber
    spectre=specter lustre=luster meagre=meager manoeuvre=maneuver manoeuvres=maneuvers millimetre=millimeter
    millimetres=millimeters centimetre=centimeter centimetres=centimeters kilometre=kilometer
    kilometres=kilometers millilitre=milliliter millilitres=milliliters nanometre=nanometer nanometres=nanometers
    sabre=saber reconnoitre=reconnoiter defence=defense defences=defenses offence=offense offences=offenses
    licence=license licences=licenses pretence=pretense practise=practice practised=practiced practises=practices
    practising=practicing catalogue=catalog catalogues=catalogs catalogued=cataloged cataloguing=cataloging
    analogue=analog analogues=analogs grey=gray greys=grays greyish=grayish tyre=tire tyres=tires kerb=curb
    kerbs=curbs cheque=check cheques=checks programme=program programmes=programs aluminium=aluminum
    aeroplane=airplane aeroplanes=airplanes jewellery=jewelry moustache=mustache moustaches=mustaches
    pyjamas=pajamas pyjama=pajama plough=plow ploughs=plows ploughing=plowing sceptic=skeptic sceptics=skeptics
    sceptical=skeptical scepticism=skepticism cosy=cozy mould=mold moulds=molds mouldy=moldy moulding=molding
    smoulder=smolder enquiry=inquiry enquiries=inquiries enquire=inquire enquiring=inquiring whilst=while
    amongst=among towards=toward afterwards=afterward backwards=backward forwards=forward upwards=upward
    downwards=downward learnt=learned dreamt=dreamed ageing=aging judgement=judgment judgements=judgments
    acknowledgement=acknowledgment acknowledgements=acknowledgments fulfil=fulfill fulfils=fulfills
    fulfilment=fulfillment enrol=enroll enrols=enrolls enrolment=enrollment enrolments=enrollments instal=install
    instalment=installment instalments=installments skilful=skillful skilfully=skillfully wilful=willful
    wilfully=willfully artefact=artifact artefacts=artifacts oestrogen=estrogen paediatric=pediatric
    paediatrics=pediatrics paediatrician=pediatrician paediatricians=pediatricians anaemia=anemia anaemic=anemic
    haemoglobin=hemoglobin haemorrhage=hemorrhage haemophilia=hemophilia haemorrhoids=hemorrhoids foetus=fetus
    foetal=fetal diarrhoea=diarrhea leukaemia=leukemia orthopaedic=orthopedic gynaecology=gynecology
    gynaecologist=gynecologist encyclopaedia=encyclopedia anaesthetic=anesthetic anaesthesia=anesthesia
    anaesthetist=anesthetist caesarean=cesarean oesophagus=esophagus oedema=edema hypoglycaemia=hypoglycemia
    hyperglycaemia=hyperglycemia ischaemia=ischemia coeliac=celiac faeces=feces mum=mom mums=moms
    maths=math sulphur=sulfur sulphate=sulfate sulphuric=sulfuric doughnut=donut doughnuts=donuts yoghurt=yogurt
    yoghurts=yogurts omelette=omelet omelettes=omelets chilli=chili chillies=chilies furore=furor
    speciality=specialty specialities=specialties sizeable=sizable likeable=likable moveable=movable
    saleable=salable loveable=lovable useable=usable traveller=traveler travellers=travelers woollen=woolen
    marvellous=marvelous counsellor=counselor counsellors=counselors councillor=councilor councillors=councilors
    worshipping=worshiping worshipped=worshiped kidnapped=kidnaped kidnapping=kidnaping kidnapper=kidnaper
    focussed=focused focussing=focused focusses=focuses gauging=gaging aesthetic=esthetic archaeology=archeology
    archaeological=archeological archaeologist=archeologist archaeologists=archeologists
    palaeontology=paleontology ax=axe dialled=dialed dialling=dialing cancelation=cancellation
    cancelations=cancellations mollusc=mollusk molluscs=mollusks phoney=phony tonne=metric_ton
    carburettor=carburetor airplanes=airplanes grammes=grams gramme=gram kilogramme=kilogram kilogrammes=kilograms
    e-mail=email e-mails=emails storeys=stories mediaeval=medieval paediatrically=pediatrically
    homoeopathy=homeopathy foetuses=fetuses manoeuvring=maneuvering manoeuvred=maneuvered tranquillity=tranquility
    oesophagitis=esophagitis oesophageal=esophageal oedematous=edematous oestrogens=estrogens aetiology=etiology
    haematoma=hematoma haematomas=hematomas haematology=hematology haematologist=hematologist haemolysis=hemolysis
    haemolytic=hemolytic haemodialysis=hemodialysis haemorrhagic=hemorrhagic haemorrhages=hemorrhages
    haemophiliac=hemophiliac haematuria=hematuria septicaemia=septicemia toxaemia=toxemia uraemia=uremia
    thalassaemia=thalassemia bacteraemia=bacteremia hyperkalaemia=hyperkalemia hypokalaemia=hypokalemia
    hypernatraemia=hypernatremia hyponatraemia=hyponatremia hypercalcaemia=hypercalcemia hypocalcaemia=hypocalcemia
    hyperlipidaemia=hyperlipidemia hypercholesterolaemia=hypercholesterolemia hypoglycaemic=hypoglycemic
    hyperglycaemic=hyperglycemic glycaemic=glycemic ischaemic=ischemic faecal=fecal apnoea=apnea dyspnoea=dyspnea
    gonorrhoea=gonorrhea amenorrhoea=amenorrhea dysmenorrhoea=dysmenorrhea seborrhoea=seborrhea seborrhoeic=seborrheic
    pyorrhoea=pyorrhea orthopaedics=orthopedics gynaecological=gynecological gynaecologists=gynecologists
    anaesthetics=anesthetics caesareans=cesareans leucocyte=leukocyte leucocytes=leukocytes
    gipsy=gypsy unravelling=unraveling colourway=colorway
    aubergine=eggplant aubergines=eggplants courgette=zucchini courgettes=zucchini
    neighbouring=neighboring neighbourhood=neighborhood favourite=favorite favourites=favorites
    """
    )
    if not pair.startswith(("tonne", "airplanes", "aesthetic", "gauging", "kidnap", "worship", "focussing"))
)
# Of these the American writing has a second meaning, so that who asks what one is asks for less: a gauge is no metre.
WIDER = vocabulary("metre cheque cheques programme programmes tyre tyres kerb kerbs licence mould moulds")
_CONDITIONAL = frozenset({"labour", "labours"})


def _pairs() -> dict[str, str]:
    pairs: dict[str, str] = {}
    for stem in _OUR:
        american = stem[:-3] + "or"
        if stem == "glamour":
            continue
        pairs |= {stem + ending: american + ending for ending in _OUR_ENDINGS}
    for stem in _ISE:
        american = stem[:-1] + "z"
        pairs |= {stem + ending: american + ending for ending in _ISE_ENDINGS}
    for stem in _DOUBLED:
        pairs |= {f"{stem}l{ending}": stem + ending for ending in ("ed", "ing", "er", "ers", "ings")}
    # Nouns in the plural, and words that are no verbs: "emphasis", "synthesis".
    for noun in ("analyses", "catalyses", "paralyses", "emphases", "syntheses", "synthesis", "emphasis", "analyser"):
        pairs.pop(noun, None)
    return pairs | {"analyser": "analyzer", "analysers": "analyzers"} | _SINGLE


AMERICAN: dict[str, str] = _pairs()


def american(word: str, following: str) -> str | None:
    """The American spelling of a British word in lower case; None for another word, and for the Labour Party's name."""
    if word == "storeys" and following not in ("does", "do", "did", "is", "high", "tall", "are", "has"):
        return None
    if word in _CONDITIONAL and following in ("party", "mp", "mps", "government", "leader", "party's"):
        return None
    if word == "grey's":  # a name: "Grey's Anatomy" is not "Gray's Anatomy"
        return None
    if word.endswith("'s"):
        plain = AMERICAN.get(word[:-2])
        return plain and plain + "'s"
    return AMERICAN.get(word)
