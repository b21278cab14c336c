"""The meaning of column and table names: a vocabulary in English, German, French and Spanish.

Direct identifiers follow the list of HIPAA's Safe Harbor (45 CFR 164.514(b)(2)), sensitive attributes the special
categories of GDPR Art. 9(1) and Art. 10, and further private facts: money, grades, credentials. Quasi-identifiers are
attributes that the literature on disclosure control treats as known or visible: dates, places, demography, work, looks.

A term is one or more words; `|` separates terms. Letter case, accents and separators of words do not matter: "birth
date" is found in birth_date, BirthDate and BIRTHDATE. `doubt` is why a person should check a hit. `codes` are the names
of survey variables, and words that mean something only alone: they count as a whole name, with their digits.
"""

from dataclasses import dataclass

from qidsql.core.tables import PolicyRole

DIRECT, QUASI, SENSITIVE, OTHER = (
    PolicyRole.DIRECT_IDENTIFIER,
    PolicyRole.QUASI_IDENTIFIER,
    PolicyRole.SENSITIVE,
    PolicyRole.OTHER,
)


@dataclass(frozen=True, slots=True)
class Concept:
    """The content of a column, and its role in an audit."""

    meaning: str
    role: PolicyRole
    en: str
    de: str = ""
    fr: str = ""
    es: str = ""
    codes: str = ""
    doubt: str = ""
    of_things: bool = False  # things have it too, not only persons

    @property
    def terms(self) -> list[str]:
        return [
            term.strip() for text in (self.en, self.de, self.fr, self.es) for term in text.split("|") if term.strip()
        ]


CONCEPTS = (
    # direct identifiers
    Concept(
        "a person's name",
        DIRECT,
        en="first name | firstname | fname | given name | forename | middle name | middle initial | last name | "
        "lname | surname | family name | maiden name | full name | display name | nickname | alias name | "
        "person name | contact name | holder name | cardholder | next of kin | mother name | father name | "
        "guardian name",
        de="Vorname | Nachname | Familienname | Rufname | Geburtsname | Mädchenname | Zuname | Vollname | "
        "Ansprechpartner | Inhaber",
        fr="prénom | nom de famille | nom famille | nom naissance | nom jeune fille | nom complet | nom usage | "
        "titulaire",
        es="nombre completo | primer nombre | segundo nombre | apellido | apellidos | primer apellido | "
        "segundo apellido | titular",
    ),
    Concept(
        "an e-mail address",
        DIRECT,
        en="email | e mail | mail | email address | mail address",
        de="E-Mail-Adresse | Mailadresse",
        fr="courriel | adresse mail | mél",
        es="correo | correo electrónico",
        of_things=True,
    ),
    Concept(
        "a telephone number",
        DIRECT,
        en="phone | telephone | tel | mobile | cell phone | cellphone | phone number | fax | fax number | msisdn",
        de="Telefon | Telefonnummer | Handy | Handynummer | Mobilnummer | Rufnummer | Faxnummer | Festnetz",
        fr="téléphone | portable | numéro téléphone | télécopie",
        es="teléfono | móvil | celular",
        of_things=True,
    ),
    Concept(
        "a postal address",
        DIRECT,
        en="address | addr | address line | street address | home address | postal address | mailing address | "
        "street | street name | house number | house no | building number | apartment | apt | unit number | "
        "po box",
        de="Adresse | Anschrift | Straße | Str | Hausnummer | Hausnr | Wohnanschrift | Postfach",
        fr="adresse | rue | voie | numéro de rue | numéro rue | numéro voie | boîte postale",
        es="dirección | domicilio | calle | número de calle | número calle | número casa | apartado postal",
        of_things=True,
    ),
    Concept(
        "a number given to one person",
        DIRECT,
        en="ssn | social security | social security number | social insurance number | sin number | national id | "
        "national insurance number | nino | nhs number | passport | passport number | driver license | "
        "drivers license | driving licence | license number | licence number | tax id | tin | tax number | "
        "itin | identity card | id card | medical record number | medical record | mrn | record number | "
        "chart number | health plan number | health insurance number | insurance number | insured number | "
        "policy number | certificate number | badge number | payroll number | personnel number | "
        "membership number | matriculation number | case number | loyalty card | npi",
        de="Sozialversicherungsnummer | SV-Nummer | SVNR | Rentenversicherungsnummer | Krankenversichertennummer | "
        "KVNR | Versichertennummer | Versicherungsnummer | Steuernummer | Steuer ID | "
        "Steueridentifikationsnummer | Personalausweis | Personalausweisnummer | Ausweisnummer | Reisepass | "
        "Passnummer | Führerschein | Führerscheinnummer | Personalnummer | Mitgliedsnummer | Matrikelnummer | "
        "Aktenzeichen | Fallnummer | AHV Nummer",
        fr="numéro de sécurité sociale | numéro sécurité sociale | sécurité sociale | numéro sécu | num sécu | "
        "sécu | NIR | numéro fiscal | passeport | numéro passeport | permis de conduire | permis conduire | "
        "carte identité | carte vitale | matricule | numéro dossier | numéro allocataire | numéro assuré | INS",
        es="seguridad social | número seguridad social | NSS | DNI | NIE | NIF | CURP | RFC | RUT | cédula | "
        "pasaporte | número pasaporte | licencia de conducir | licencia conducir | carné de identidad | "
        "carnet conducir | número historia clínica | historia clínica | expediente | matrícula alumno | "
        "tarjeta sanitaria | CIP",
        codes="serialno | cpsid | cpsidp | db030 | rb030 | pb030 | hb030 | patient_nbr",
    ),
    Concept(
        "a number of an account or card",
        DIRECT,
        en="account number | account no | acct number | acct | bank account | iban | bic iban | routing number | "
        "credit card | credit card number | card number | debit card | pan | cc number",
        de="Kontonummer | Kontonr | Bankverbindung | Kreditkarte | Kreditkartennummer | Kartennummer",
        fr="numéro de compte | numéro compte | compte bancaire | RIB | carte bancaire | numéro carte",
        es="número de cuenta | número cuenta | cuenta bancaria | CCC | CLABE | tarjeta de crédito | "
        "tarjeta crédito | número tarjeta",
    ),
    Concept(
        "a vehicle or device",
        DIRECT,
        en="license plate | licence plate | plate number | number plate | vin | vehicle identification number | "
        "imei | imsi | iccid | sim serial | sim number | serial number | mac address | device id | "
        "device identifier | advertising id | idfa | "
        "gaid | cookie id",
        de="Kennzeichen | Autokennzeichen | Fahrgestellnummer | Seriennummer | Gerätenummer",
        fr="plaque immatriculation | immatriculation | numéro de série | numéro série",
        es="placa | matrícula vehículo | bastidor | número bastidor | número de serie | número serie",
    ),
    Concept(
        "a trace on the net",
        DIRECT,
        en="ip | ip address | ip addr | ipaddress | remote addr | client ip | url | homepage | website | web page | "
        "username | user name | login | login name | screen name | handle | twitter | facebook | linkedin | "
        "instagram | skype | social profile | user agent | session id",
        de="IP Adresse | Benutzername | Anmeldename | Nutzername | Internetseite",
        fr="adresse IP | nom utilisateur | identifiant connexion | site web | pseudo",
        es="dirección IP | nombre de usuario | nombre usuario | usuario | sitio web",
        of_things=True,
    ),
    Concept(
        "a picture or a feature of the body",
        DIRECT,
        en="photo | photograph | picture | portrait | avatar | face image | fingerprint | biometric | iris scan | "
        "voice print | voiceprint | signature",
        de="Lichtbild | Foto | Passbild | Unterschrift | Fingerabdruck",
        fr="photographie | empreinte | empreinte digitale",
        es="fotografía | foto | firma digital | huella | huella dactilar",
    ),
    Concept(
        "a credential",
        DIRECT,
        en="password | passwd | pwd | password hash | passphrase | secret | api key | access token | "
        "refresh token | auth token | pin code | security answer | salt",
        de="Passwort | Kennwort",
        fr="mot de passe | mot passe | mdp",
        es="contraseña | clave acceso",
    ),
    Concept(
        "free text",
        DIRECT,
        en="note | notes | comment | comments | remark | remarks | free text | freetext | memo | narrative | "
        "message | body text | description | details | observation | transcript | letter | clinical note",
        de="Notiz | Notizen | Bemerkung | Bemerkungen | Kommentar | Anmerkung | Freitext | Beschreibung | Nachricht",
        fr="commentaire | commentaires | remarque | remarques | observations | texte libre",
        es="nota | notas | comentario | comentarios | observación | observaciones | texto libre | descripción",
        doubt="a text can name people",
        of_things=True,
    ),
    # quasi-identifiers
    Concept(
        "a date or year of birth",
        QUASI,
        en="birth date | date of birth | dob | birthday | birth day | birth year | year of birth | yob | "
        "birth month | month of birth | birth | born | bdate",
        de="Geburtsdatum | Geburtstag | Geburtsjahr | Geburtsmonat | Geburt | geb Datum | geb",
        fr="date de naissance | date naissance | année de naissance | année naissance | naissance | mois naissance",
        es="fecha de nacimiento | fecha nacimiento | fecha nac | año de nacimiento | año nacimiento | nacimiento",
    ),
    Concept(
        "an age",
        QUASI,
        en="age | age group | age years | age band | age range | age at | age class",
        de="Alter | Altersgruppe | Altersklasse | Lebensalter",
        fr="âge | tranche d'âge | tranche âge | groupe âge | classe âge",
        es="edad | grupo edad | grupo de edad | rango edad",
        codes="agep | age_cat",
    ),
    Concept(
        "sex or gender",
        QUASI,
        en="sex | gender | gender identity | salutation | honorific",
        de="Geschlecht | Anrede",
        fr="sexe | genre | civilité",
        es="sexo | género | tratamiento cortesía",
        codes="male | female | rb090 | pb150 | prefix",
    ),
    Concept(
        "a place",
        QUASI,
        en="zip | zip code | postal code | postcode | post code | city | town | village | municipality | county | "
        "district | borough | province | region | country | country code | nation | residence | neighbourhood | "
        "neighborhood | suburb | census tract | location | locality | geo | geohash | latitude | longitude | "
        "lat | lon | lng | coordinates | census block | msa | puma | area code | commune | parish | canton",
        de="PLZ | Postleitzahl | Ort | Wohnort | Stadt | Gemeinde | Ortsteil | Stadtteil | Kreis | Landkreis | "
        "Bezirk | Bundesland | Land | Region | Kanton | Breitengrad | Längengrad | Standort | Wohnsitz",
        fr="code postal | cp | ville | commune | département | région | pays | quartier | lieu | arrondissement | "
        "canton",
        es="código postal | ciudad | localidad | municipio | provincia | comunidad autónoma | país | barrio | "
        "colonia | comarca | latitud | longitud",
        codes="st | statefip | fips | fips code | metro | db040 | mig | addr_state",
        of_things=True,
    ),
    Concept(
        "a state of a country",
        QUASI,
        en="state | state code | us state",
        es="estado",
        doubt="or is it a status?",
        of_things=True,
    ),
    Concept(
        "origin",
        QUASI,
        en="nationality | citizenship | native country | country of birth | birth country | birthplace | "
        "place of birth | birth place | native language | mother tongue | language | migration background | "
        "immigrant | generation",
        de="Nationalität | Staatsangehörigkeit | Staatsbürgerschaft | Geburtsort | Geburtsland | Muttersprache | "
        "Sprache | Migrationshintergrund | Herkunft",
        fr="nationalité | citoyenneté | lieu de naissance | lieu naissance | pays de naissance | pays naissance | "
        "langue | langue maternelle",
        es="nacionalidad | ciudadanía | lugar de nacimiento | lugar nacimiento | país nacimiento | idioma | "
        "lengua materna",
        codes="cit | citwp | pobp | nativity | yoep | eng | lanx | pb220a",
    ),
    Concept(
        "race or ethnicity",
        QUASI,
        en="race | ethnicity | ethnic group | ethnic origin | ethnic | hispanic",
        de="Ethnie | Ethnische Herkunft",
        fr="ethnie | origine ethnique",
        es="raza | etnia | origen étnico",
        codes="rac1p | hisp | hispan | afam",
        doubt="seen from outside, and a special category of GDPR Art. 9",
    ),
    Concept(
        "the family",
        QUASI,
        en="marital status | marital | civil status | married | spouse | relationship | family status | children | "
        "number of children | num children | kids | household | household size | household type | family size | "
        "dependents | siblings | parity | living arrangement",
        de="Familienstand | Kinder | Kinderzahl | Haushalt | Haushaltsgröße | Ehepartner | Personenstand",
        fr="état civil | situation familiale | situation matrimoniale | statut marital | enfants | nombre enfants | "
        "ménage | foyer | conjoint",
        es="estado civil | hijos | número hijos | hogar | tamaño hogar | cónyuge | situación familiar",
        codes="mar | msp | fer | relshipp | marst | hsize | hx040 | pb190 | childs | sibsp | parch | personal_status",
    ),
    Concept(
        "work",
        QUASI,
        en="occupation | job | job title | profession | employer | company | workplace | industry | workclass | "
        "work class | class of worker | employment | employment status | job category | department | position | "
        "rank | hours per week | working hours | hire date | date hired | termination date | job level | "
        "cost center | cost centre | employed | self employed | occupation code | business travel | "
        "distance from home | "
        "overtime | working years | years at company | years in current role | companies worked | "
        "training times | emp title | emp length | medical specialty",
        de="Beruf | Tätigkeit | Arbeitgeber | Firma | Branche | Abteilung | Erwerbsstatus | Beschäftigung | "
        "Stelle | Einstellungsdatum | Eintrittsdatum | Austrittsdatum | Arbeitszeit | Kostenstelle",
        fr="profession | métier | employeur | entreprise | emploi | catégorie socioprofessionnelle | csp | "
        "secteur | poste | date embauche | temps de travail | service employeur",
        es="profesión | ocupación | empleo | empleador | empresa | puesto | trabajo | sector | oficio | "
        "situación laboral | fecha contratación | antigüedad",
        codes="cow | mil | occ | ind | occp | indp | wkhp | jwmnp | jwtrns | empstat | labforce | classwkr | "
        "uhrsworkt | "
        "wrkstat | hrs1 | pl030 | pl031 | foreign_worker",
    ),
    Concept(
        "education",
        QUASI,
        en="education | education level | education num | educational level | degree | school | university | "
        "college | graduation | graduation year | enrollment year | major subject | study program | "
        "grade level | school class",
        de="Bildung | Bildungsabschluss | Schulabschluss | Abschluss | Schule | Universität | Hochschule | "
        "Studiengang | Studienfach | Semester | Schulklasse",
        fr="éducation | niveau études | niveau étude | diplôme | école | université | formation | filière | "
        "année études",
        es="educación | nivel educativo | nivel estudios | estudios | escuela | universidad | título académico | "
        "carrera",
        codes="schg | schl | educ | schlcoll",
    ),
    Concept(
        "the looks or size of a body",
        QUASI,
        en="height | body height | body weight | weight kg | weight lb | bmi | body mass index | eye color | "
        "eye colour | hair color | hair colour | skin color | tattoo | shoe size | handedness | stature | birth weight",
        de="Größe | Körpergröße | Körpergewicht | Gewicht | Augenfarbe | Haarfarbe",
        fr="taille | poids | imc | couleur yeux | couleur cheveux",
        es="estatura | altura | peso | imc | color ojos | color pelo | talla",
    ),
    Concept(
        "the weight of a body, or of a row in a survey",
        QUASI,
        en="weight",
        doubt="of a body, a thing, or of a row in a survey?",
    ),
    Concept(
        "when something happened to a person",
        QUASI,
        en="admission date | admit date | admission | admitted | discharge date | discharge | discharged | "
        "date of death | death date | death | died | deceased | visit date | visit | encounter date | "
        "appointment | appointment date | procedure date | test date | arrival | arrival date | departure date | "
        "travel date | event date | exam date | purchase date | order date | marriage date | wedding date | "
        "enrollment date | registration date | member since | customer since | check in | check out | "
        "onset date | service date | length of stay | los | dod | admit time | admittime | discharge time | "
        "disch time | "
        "dischtime | death time | deathtime | reg time | edregtime | edouttime | screening date | offense date | "
        "arrest date | anchor year | jail in | jail out | time in hospital | patient disposition",
        de="Aufnahmedatum | Aufnahme | Entlassungsdatum | Entlassung | Sterbedatum | Todesdatum | Besuchsdatum | "
        "Termin | Behandlungsdatum | Untersuchungsdatum | Bestelldatum | Kaufdatum | Verweildauer | Heiratsdatum",
        fr="date d'admission | date admission | date d'entrée | date entrée | date de sortie | date sortie | "
        "date décès | décès | date visite | date consultation | rendez-vous | date achat | date commande | "
        "durée séjour",
        es="fecha de ingreso | fecha ingreso | fecha de alta | fecha alta | fecha defunción | defunción | "
        "fecha visita | fecha consulta | cita | fecha cita | fecha compra | fecha pedido | estancia",
    ),
    Concept(
        "where a person was treated, taught or served",
        QUASI,
        en="hospital | clinic | ward | practice | facility | provider | store | branch | shop | site | campus | "
        "care unit | insurer | payer | health plan",
        de="Krankenhaus | Klinik | Station | Praxis | Filiale | Krankenkasse | Einrichtung | Kasse",
        fr="hôpital | clinique | établissement | cabinet | magasin | agence | mutuelle | unité de soins",
        es="hospital | clínica | centro | sucursal | tienda | consultorio | aseguradora | planta hospital",
        of_things=True,
    ),
    Concept(
        "how a person is insured",
        QUASI,
        en="insurance | insured status | insurance type | health insurance | medicaid | medicare | payment typology",
        de="Krankenversicherung | Versicherungsart",
        fr="assurance | assurance maladie",
        es="seguro | seguro médico",
        codes="hicov | coverpi",
    ),
    Concept(
        "what a person owns",
        QUASI,
        en="car | vehicle | vehicle type | vehicle model | house type | home ownership | housing | property type | "
        "pets | homeowner | tenure",
        de="Auto | Fahrzeug | Wohnform | Fahrzeugtyp",
        fr="voiture | véhicule | logement",
        es="coche | vehículo | vivienda",
    ),
    # sensitive attributes
    Concept(
        "health",
        SENSITIVE,
        en="diagnosis | diagnoses | diag | icd | icd code | dx | disease | illness | condition | conditions | "
        "medical condition | symptom | symptoms | complaint | chief complaint | medication | medicine | drug | "
        "drug name | prescription | dose | dosage | treatment | therapy | procedure | procedure code | surgery | "
        "operation | test result | lab result | result | lab value | blood type | blood group | blood pressure | "
        "allergy | allergies | hiv | hiv status | std | cancer | tumor | tumour | stage | diabetes | diabetic | "
        "asthma | depression | mental health | psychiatric | addiction | smoker | smoking | smoking status | "
        "special need | special needs | sick days | sick leave | parental leave | maternity | alcohol | "
        "pregnant | pregnancy | abortion | disability | disabled | handicap | vaccination | vaccine | "
        "immunization | health status | outcome | cause of death | genotype | gene | genetic | dna | severity | "
        "comorbidity | readmission | readmitted | heart rate | cholesterol | chol | glucose | insulin | hemoglobin | "
        "haemoglobin | hba1c | albumin | bilirubin | bili | creatinine | platelet | platelets | triglycerides | hdl | "
        "ldl | serum | hypertension | stroke | heart disease | heart attack | chd | edema | metformin | "
        "medications | sys bp | dia bp | sysbp | diabp | bp meds | cigarettes | cigs per day | health condition | "
        "general health | chronic condition | laboratory | lab test | lab procedures | drg | drg code | "
        "severity of illness",
        de="Diagnose | Hauptdiagnose | Nebendiagnose | Krankheit | Erkrankung | Befund | Symptom | Beschwerden | "
        "Medikament | Medikation | Arznei | Arzneimittel | Wirkstoff | Rezept | Dosis | Behandlung | Therapie | "
        "Operation | OPS | Laborwert | Blutgruppe | Blutdruck | Allergie | Behinderung | schwerbehindert | "
        "Schwangerschaft | schwanger | Raucher | Impfung | Todesursache | Gesundheit | Pflegegrad | Gutachten",
        fr="diagnostic | maladie | pathologie | affection | symptôme | symptômes | médicament | traitement | "
        "ordonnance | posologie | résultat | intervention | chirurgie | groupe sanguin | allergie | handicap | "
        "grossesse | enceinte | fumeur | vaccin | cause décès | santé | antécédents",
        es="diagnóstico | enfermedad | dolencia | síntoma | síntomas | medicamento | medicación | receta | "
        "tratamiento | terapia | cirugía | resultado | grupo sanguíneo | alergia | discapacidad | embarazo | "
        "embarazada | fumador | vacuna | causa muerte | salud | antecedentes | vih",
        codes="health | chronic | ddrs | deye | dphy | drem | disabwrk | fbs | trestbps | restecg | thalach | exang | "
        "oldpeak | ascites | hepato | alk.phos | protime",
    ),
    Concept(
        "how often a person was treated",
        SENSITIVE,
        en="office visits | doctor visits | physician visits | outpatient visits | emergency visits | "
        "hospital visits | "
        "hospital stays | number outpatient | number inpatient | number emergency | emergency department",
        codes="visits | visit_count | num_visits | nvisits | ovisits | novisits | emergency",
        doubt="of a doctor, or of something else?",
    ),
    Concept(
        "absence from work or school",
        SENSITIVE,
        en="leave | leave type | leave reason | absence | absences | absence type | absence reason | absent | "
        "absent days | sick note | sickness",
        de="Fehlzeit | Fehltage | Abwesenheit | Krankmeldung | Krankheitstage",
        fr="absence | arrêt maladie | congé maladie",
        es="ausencia | baja médica",
    ),
    Concept(
        "belief, politics or membership (GDPR Art. 9)",
        SENSITIVE,
        en="religion | religious | faith | church | denomination | political party | party affiliation | "
        "political | vote | voted for | union member | union membership | trade union",
        de="Religion | Konfession | Kirche | Glaube | Partei | Gewerkschaft | Kirchensteuer",
        fr="religion | confession | opinion politique | parti | syndicat",
        es="religión | confesión | partido | partido político | sindicato | afiliación política",
        codes="relig | partyid | polviews",
    ),
    Concept(
        "sex life or orientation (GDPR Art. 9)",
        SENSITIVE,
        en="sexual orientation | orientation | sexuality | sexual preference | partners count",
        de="sexuelle Orientierung | Sexualität",
        fr="orientation sexuelle | sexualité",
        es="orientación sexual | sexualidad",
    ),
    Concept(
        "offences (GDPR Art. 10)",
        SENSITIVE,
        en="crime | criminal | criminal record | conviction | convicted | offence | offense | arrest | arrested | "
        "sentence | verdict | charge code | charge degree | charge desc | felony | misdemeanor | prison | recid | "
        "recidivism | priors count | juv fel count | juv misd count",
        de="Straftat | Verurteilung | Vorstrafe | Delikt | Urteil | Haft",
        fr="infraction | condamnation | délit | casier judiciaire | peine",
        es="delito | condena | antecedentes penales | sentencia | pena",
        codes="priors | priors_count",
    ),
    Concept(
        "money",
        SENSITIVE,
        en="salary | savings | expense | expenses | income | wage | wages | pay | pay rate | hourly rate | bonus | "
        "earnings | compensation | net worth | balance | debt | loan | loan amount | loan status | mortgage | "
        "rent | credit score | credit limit | credit history | fico | default payment | amount | price paid | "
        "total cost | cost | costs | charges | payment | spending | capital gain | capital loss | tax paid | "
        "benefit | pension | bankruptcy | fee | fees | tuition fee | dunning | dunning level | free lunch | "
        "gross | gross pay | net pay | withheld | tax withheld | deduction | deductions | garnishment | alimony | "
        "loan amnt | funded amnt | interest rate | int rate | installment | annual inc | daily rate | monthly rate | "
        "salary hike | debt to income | dti | delinq | revol bal | open acc | total acc | pub rec | credit line | "
        "cr line | "
        "checking status | healthcare coverage",
        de="Gehalt | Einkommen | Lohn | Bezüge | Verdienst | Kontostand | Saldo | Schulden | Kredit | Darlehen | "
        "Miete | Bonität | Betrag | Rente | Kosten | Prämie",
        fr="salaire | revenu | revenus | rémunération | solde | dette | prêt | crédit | loyer | montant | pension | "
        "prime | coût",
        es="salario | sueldo | ingreso | ingresos | renta | saldo | deuda | préstamo | crédito | hipoteca | "
        "importe | monto | pensión | nómina | coste | costo",
        codes="pincp | wagp | pernp | intp | retp | semp | ssip | ssp | oip | inctot | incwage | incwelfr | rincome | "
        "py010g | py020g | py050g | py080g | py090g | py100g | py110g | py120g | py130g | py140g | hy010 | hy020 | "
        "hy022 | hy023 | hy040g | hy050g | hy060g | hy070g | hy080g | hy090g | hy100g | hy110g | hy120g | hy130g | "
        "hy140g",
    ),
    Concept(
        "an assessment of a person",
        SENSITIVE,
        en="grade | grades | gpa | exam score | test score | exam result | score | rating | performance | "
        "performance review | appraisal | attendance | suspended | suspension | disciplinary | warning letter | "
        "satisfaction | job satisfaction | relationship satisfaction | job involvement | work life balance | happy | "
        "iq | risk score",
        de="Noten | Zensur | Bewertung | Beurteilung | Punktzahl | Abmahnung",
        fr="moyenne | évaluation | appréciation",
        es="calificación | calificaciones | puntuación | evaluación",
        doubt="of a person, or of a thing?",
    ),
    # not about a person
    Concept(
        "bookkeeping of the database",
        OTHER,
        en="created | created at | created on | create date | creation date | creation time | created by | "
        "updated | updated at | updated on | update date | updated by | modified | modified at | modified date | "
        "modified by | last modified | last update | last updated | inserted at | loaded at | load date | "
        "load time | load id | batch | batch id | etl | etl date | etl id | row version | rowversion | version | "
        "revision | deleted | deleted at | is deleted | is active | active flag | valid from | valid to | "
        "valid until | effective from | effective to | checksum | row hash | record hash | sort order | "
        "sort key | sequence | source system | data source | import id | import date | sync id | synced at | "
        "ingested at | processed at | partition date | lock version",
        de="erstellt | erstellt am | angelegt am | Anlagedatum | geändert | geändert am | Änderungsdatum | "
        "gelöscht | Löschkennzeichen | gültig ab | gültig bis | Mandant | Sortierung | Laufnummer | lfd Nr",
        fr="date création | créé le | date modification | modifié le | date mise à jour | mis à jour | supprimé | "
        "valide du",
        es="fecha creación | creado | creado en | fecha modificación | modificado | fecha actualización | "
        "actualizado | eliminado",
        of_things=True,
    ),
    Concept(
        "a weight of rows in a survey",
        OTHER,
        en="fnlwgt | survey weight | sampling weight | sample weight | final weight | person weight | pweight | "
        "wgt | replicate weight | design weight | household weight | family weight | analysis weight | "
        "expansion factor | pwgt | pwgtp | hwgt | wgtp | perwt | hhwt | wtfinl | hwtfinl | asecwt | finalwgt | "
        "finalwt | "
        "wtss | wtssall | dweight | pspwght | pspweight",
        de="Gewichtungsfaktor | Hochrechnungsfaktor",
        fr="poids sondage | pondération",
        es="factor expansión | factor ponderación",
        codes="rb050 | rb060 | pb040 | pb060 | db080 | db090",
    ),
)

NAME = "name | names | label | nom | nombre | Bezeichnung | libellé | denominación"  # of a person, or of a thing
NUMBER = (  # words at the end or the beginning of names of numbers
    "id | ids | identifier | key | no | nr | nbr | num | number | uuid | guid | pk | fk | ref | reference | "
    "nummer | Kennung | Schlüssel | Kennzahl | identifiant | numéro | numero | clave | identificador | sk | "
    "surrogate key"
)
BARE_NUMBER = "id | identifier | nr | uuid | guid | Kennung | identifiant | identificador"  # of a row, or of a person
NUMBER_IN_STUDIES = (  # what panels and clinical studies call the number of a person
    "pid | pidp | uid | idcode | caseid | idind | idpers | persid | persnr | pnr | mergeid | hhidpn | seqn | ptid | "
    "ptno | patid | patno | subj | subjid | subjno | subjectid | usubjid | custid | empid"
)
# A name with these endings is about the preceding thing: the type of a telephone is no telephone number.
ALONE = "first | last | middle | maiden | given | family | prename"  # a name of a person, in a table of persons
NEVER_A_PART = "nation | nations | state"  # of a longer word, though many end so: termination, interstate
NOT_THE_AMOUNT = (  # after a word for money: how, when, and in what it is paid
    "type | kind | method | mode | channel | provider | date | day | month | time | at | on | frequency | cycle | "
    "term | terms | currency | Art | Weise | Datum | Währung | Zeitraum | devise | fréquence | moneda | fecha | "
    "forma | método | frecuencia"
)
ASPECTS = (
    "type | kind | status | flag | count | verified | confirmed | category | class | group | level | valid | "
    "missing | provider | opt in | optin | consent | format | length | indicator | ind | preference | "
    "enabled | Art | Typ | Anzahl | Kennzeichen Art | statut | catégorie | tipo | cantidad | domain | "
    "prefix | suffix | source"
)
SUBJECTS = (  # persons that a table is about
    "person | persons | people | individual | individuals | patient | patients | client | clients | "
    "customer | customers | member | members | subscriber | subscribers | student | students | pupil | "
    "pupils | applicant | applicants | candidate | candidates | resident | residents | citizen | citizens | "
    "voter | voters | participant | participants | respondent | respondents | subject | subjects | "
    "beneficiary | beneficiaries | insured | policyholder | policyholders | passenger | passengers | guest | "
    "guests | donor | donors | tenant | tenants | borrower | borrowers | child | household member | user | "
    "users | visitor | visitors | buyer | buyers | debtor | debtors | inmate | inmates | case person | "
    "lead | leads | Personen | Patienten | Patientin | Kunde | Kunden | Kundin | Mitglied | Mitglieder | "
    "Schüler | Studierende | Studenten | Bewerber | Einwohner | Bürger | Wähler | Teilnehmer | Versicherte | "
    "Versicherter | Mieter | Benutzer | Nutzer | Gäste | personne | personnes | adhérent | adhérents | "
    "élève | élèves | étudiant | étudiants | assuré | assurés | bénéficiaire | habitant | habitants | "
    "électeur | électeurs | utilisateur | utilisateurs | abonné | abonnés | persona | personas | paciente | "
    "pacientes | cliente | clientes | socio | socios | alumno | alumnos | estudiante | estudiantes | "
    "asegurado | asegurados | ciudadano | ciudadanos | votante | votantes | habitante | habitantes | usuarios"
)
SIGNS = "people | insured | child | lead"  # as names of columns: how many, whether, how far
EMPLOYED = (  # persons who serve them; some tables are about them
    "employee | employees | staff | worker | workers | personnel | salesperson | Mitarbeiter | Mitarbeiterin | "
    "Beschäftigte | Angestellte | Personal | employé | employés | salarié | salariés | empleado | empleados | "
    "trabajador | trabajadores"
)
STAFF = (  # others who serve them
    "doctor | doctors | physician | physicians | nurse | nurses | teacher | teachers | agent | agents | "
    "manager | managers | driver | drivers | owner | owners | author | authors | contact | contacts | "
    "practitioner | practitioners | caregiver | surgeon | therapist | Arzt | Ärzte | Ärztin | Pfleger | "
    "Lehrer | Sachbearbeiter | Fahrer | médecin | médecins | infirmier | enseignant | enseignants | médico | "
    "médicos | enfermero | profesor | profesores | doctora"
)
