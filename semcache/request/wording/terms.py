"""Terms of chemistry, medicine, kitchens and computing that no dictionary has, and forms that make a term another one.

Invariant: no term is ever corrected, nor is one form of a substance into another: "ethanal" is no slip of "ethanol".
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary

TERMS = vocabulary("""
    cellulase lectin lectins rennin peroneal propyl isopropoyl decyl hexyl heptyl octyl nonyl pentyl phosphane silane
    silicane borane bromane iodane chlorane stannane germane arsane stibane sulfane azane diazane oxidane ferrate
    ferrates hypochlorate hypochlorates acetane keratine benzoine dyspnea septicemia tachypnea bradypnea orthopnea
    apnea ptosis miosis meiosis mycosis narcosis
    lyrica abilify halcion crestor lopid precose celexa celebrex cerebyx lamictal lamisil zantac zyrtec zyprexa seroquel
    risperdal latuda effexor pristiq wellbutrin zyban remeron paxil luvox elavil ativan valium klonopin restoril ambien
    lunesta provigil nuvigil concerta focalin strattera intuniv plavix eliquis xarelto coumadin pradaxa brilinta
    januvia farxiga jardiance invokana victoza trulicity byetta glucophage amaryl actos avandia lantus levemir
    basaglar humalog humulin novolog tresiba toujeo lipitor zocor vytorin zetia tricor lescol livalo diovan cozaar
    benicar micardis norvasc coreg toprol tenormin inderal bystolic altace vasotec zestril lasix bumex demadex
    aldactone bactrim keflex cipro levaquin zithromax augmentin amoxil flagyl diflucan valtrex zovirax tamiflu aricept
    namenda sinemet mirapex requip neurontin depakote tegretol trileptal keppra dilantin topamax vimpat briviact
    humira enbrel remicade simponi stelara cosentyx taltz otezla xeljanz rinvoq dupixent singulair advair symbicort
    spiriva ventolin proair flonase nasonex nasacort claritin allegra benadryl sudafed mucinex robitussin nexium
    prilosec prevacid protonix pepcid zofran reglan imodium colace miralax dulcolax cialis levitra viagra propecia
    proscar flomax avodart vesicare detrol myrbetriq fosamax boniva prolia evista synthroid levoxyl cytomel armour
    percocet vicodin norco oxycontin dilaudid suboxone subutex narcan vivitrol antabuse campral chantix contrave
    saxenda qsymia zepbound
    containerd launchd networkd resolved logind timesyncd journald udevd crond nushell pihole iterm sonarr radarr
    lidarr bazarr readarr prowlarr overseerr zypper alacritty stringr lubridate purrr tidyr dplyr censys sanic jujutsu
    kaniko nerdctl minikube kustomize skaffold kubens fluxd argocd tekton
    payor payors lienor obligor vendee bailor bailee supersedeas meruit lavash burek manul
    bettong bettongs bonang cajon cajons canele caneles chima curtesy froe froes keelson mordent mordents quoll quolls
    raddle sarabande sarabandes sarking setar setars banteng bantengs bord bords calas chaat chole cista elote elotes
    fasces flitch flitches gaboon greave greaves latigo lictor lictors macaron macarons nigiri onager onagers pithos
    pommes rockling rogan sepak shinty statice stele steles sterlet sterlets stollen tmesis trochee trochees vallum
    wolffish libertia
    """)
# Compounds that differ in nothing but this are others: chains by their bonds and what hangs at the end of them, ...
_CHAIN = re.compile(r"(.{2,})(?:[aey]ne|adiene|[aey]nal|[aey]nol|[aey]none|[aey]noate|[aey]noic)s?")
# ... salts by how much oxygen they hold.
_SALT = re.compile(
    r"((?:hypo|per|thio|bi|di|hydro)*(?:sulf|sulph|nitr|phosph|phosphon|sulfon|chlor|brom|iod|ferr|chrom|mangan|permangan"
    r"|arsen|antimon|selen|tellur|silic|bor|alumin|tungst|vanad|molybd|stann|plumb|cupr|carbon|oxal|acet|citr|lact"
    r"|tartr|form|benzo|glutam|aspart|cyan|hydr))(?:ates?|ites?|ides?|ines?|anes?|ones?|ic|ous|orus)"
)


def is_another_form(word: str, other: str) -> bool:
    """Return True if two words in lower case are compounds of the same parts that differ in how these are joined.

    >>> is_another_form("ethyne", "ethane"), is_another_form("machene", "machine")
    (True, False)
    """
    return word != other and any(
        (one := form.fullmatch(word)) is not None and (two := form.fullmatch(other)) is not None and one[1] == two[1]
        for form in (_CHAIN, _SALT)
    )
