"""Column names of public tables about persons, each with the role that a person gave it before any program was asked.

D direct identifier, Q quasi-identifier, S sensitive, O other; QS: either is right. Names only, from the documentation
of each table. Terms of the vocabulary were chosen by the tables of `SEEN`; those of `UNSEEN` were labelled at the same
time, and not looked at while terms were chosen, but for the names of weights.
"""

SEEN = {
    "adult (UCI)": {
        "Q": "age workclass education education_num marital_status occupation relationship race sex hours_per_week "
        "native_country",
        "S": "capital_gain capital_loss income",
        "O": "fnlwgt",
    },
    "ACS PUMS persons (US Census)": {
        "D": "SERIALNO",
        "Q": "PUMA ST AGEP CIT COW ENG FER LANX MAR MIG MIL MSP NATIVITY OCCP INDP POBP RAC1P RELSHIPP SCHG SCHL SEX "
        "HISP WKHP YOEP JWMNP JWTRNS",
        "S": "DDRS DEAR DEYE DIS INTP PAP PERNP PINCP RETP SEMP SSIP SSP WAGP",
        "QS": "HICOV",
        "O": "SPORDER ADJINC PWGTP",
    },
    "MIMIC-IV patients": {"D": "subject_id", "Q": "gender anchor_age anchor_year anchor_year_group", "QS": "dod"},
    "MIMIC-IV admissions": {
        "D": "subject_id hadm_id",
        "Q": "admittime dischtime admission_type admission_location discharge_location language marital_status race "
        "edregtime edouttime admit_provider_id",
        "QS": "insurance deathtime hospital_expire_flag",
    },
    "SyntheticMass patients (Synthea)": {
        "D": "Id SSN DRIVERS PASSPORT FIRST MIDDLE LAST MAIDEN ADDRESS",
        "Q": "BIRTHDATE PREFIX SUFFIX MARITAL RACE ETHNICITY GENDER BIRTHPLACE CITY STATE COUNTY FIPS ZIP LAT LON",
        "QS": "DEATHDATE",
        "S": "HEALTHCARE_EXPENSES HEALTHCARE_COVERAGE INCOME",
    },
    "titanic (Kaggle)": {
        "D": "PassengerId Name Ticket",
        "Q": "Pclass Sex Age SibSp Parch Cabin Embarked",
        "QS": "Survived Fare",
    },
    "COMPAS two years (ProPublica)": {
        "D": "id name first last c_case_number r_case_number",
        "Q": "sex dob age age_cat race compas_screening_date",
        "QS": "c_jail_in c_jail_out c_offense_date c_arrest_date r_offense_date days_b_screening_arrest",
        "S": "juv_fel_count juv_misd_count decile_score priors_count c_charge_degree c_charge_desc is_recid "
        "r_charge_degree r_charge_desc is_violent_recid score_text two_year_recid",
    },
    "German credit (UCI)": {
        "Q": "employment personal_status residence_since age job num_dependents own_telephone foreign_worker",
        "QS": "duration purpose other_parties housing property_magnitude installment_commitment",
        "S": "checking_status credit_history credit_amount savings_status existing_credits class other_payment_plans",
    },
    "IPUMS CPS": {
        "D": "CPSID CPSIDP SERIAL",
        "Q": "STATEFIP COUNTY METRO AGE SEX RACE MARST NATIVITY HISPAN EMPSTAT LABFORCE OCC IND CLASSWKR UHRSWORKT "
        "EDUC "
        "SCHLCOLL",
        "QO": "YEAR MONTH PERNUM",
        "QS": "COVERPI",
        "S": "INCTOT INCWAGE INCWELFR HEALTH DISABWRK",
        "O": "ASECFLAG HWTFINL WTFINL ASECWT",
    },
    "EU-SILC (Eurostat)": {
        "D": "db030 rb030",
        "Q": "hsize db040 age rb090 pl030 pb220a pb190 hx040",
        "S": "py010g py050g py090g py100g hy040g hy050g",
        "O": "db090 rb050",
    },
    "heart disease (UCI)": {
        "Q": "age sex",
        "S": "cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal num",
    },
    "diabetes in 130 hospitals (UCI)": {
        "D": "encounter_id patient_nbr",
        "Q": "race gender age weight admission_type_id discharge_disposition_id admission_source_id time_in_hospital "
        "medical_specialty",
        "QS": "payer_code num_lab_procedures num_procedures num_medications number_outpatient number_emergency "
        "number_inpatient number_diagnoses",
        "S": "diag_1 diag_2 diag_3 max_glu_serum A1Cresult metformin insulin change diabetesMed readmitted",
    },
    "health care visits, NMES 1988 (R, AER)": {
        "Q": "region age afam gender married school employed",
        "QS": "insurance medicaid",
        "S": "visits nvisits ovisits novisits emergency hospital health chronic adl income",
    },
    "HR attrition (IBM)": {
        "D": "EmployeeNumber",
        "Q": "Age BusinessTravel Department DistanceFromHome Education EducationField Gender JobLevel JobRole "
        "MaritalStatus NumCompaniesWorked OverTime TotalWorkingYears YearsAtCompany YearsInCurrentRole Over18",
        "QS": "Attrition StockOptionLevel TrainingTimesLastYear",
        "S": "DailyRate HourlyRate JobSatisfaction MonthlyIncome MonthlyRate PercentSalaryHike PerformanceRating "
        "EnvironmentSatisfaction RelationshipSatisfaction WorkLifeBalance JobInvolvement",
        "O": "EmployeeCount StandardHours",
    },
    "medical cost (Kaggle)": {"Q": "age sex children region", "S": "charges smoker", "QS": "bmi"},
    "General Social Survey": {
        "D": "id",
        "Q": "wrkstat hrs1 marital age educ sex race region childs degree",
        "QO": "year",
        "S": "income rincome partyid relig attend happy health polviews vote16",
        "O": "wtssall",
    },
    "Framingham (Kaggle)": {
        "Q": "male age education",
        "QS": "BMI",
        "S": "currentSmoker cigsPerDay BPMeds prevalentStroke prevalentHyp diabetes totChol sysBP diaBP heartRate "
        "glucose "
        "TenYearCHD",
    },
    "pbc (R, survival)": {
        "D": "id",
        "Q": "age sex",
        "QS": "time status trt",
        "S": "ascites hepato spiders edema bili chol albumin copper alk.phos ast trig platelet protime stage",
    },
    "loans (Lending Club)": {
        "D": "id member_id",
        "Q": "emp_title emp_length home_ownership zip_code addr_state",
        "QS": "term purpose title issue_d",
        "S": "loan_amnt funded_amnt int_rate installment grade sub_grade annual_inc loan_status dti delinq_2yrs "
        "earliest_cr_line inq_last_6mths open_acc pub_rec revol_bal total_acc",
        "QO": "verification_status",
    },
    "hospital discharges (SPARCS, New York)": {
        "D": "attending_provider_license_number",
        "Q": "hospital_county facility_name age_group zip_code_3_digits gender race ethnicity length_of_stay "
        "type_of_admission discharge_year birth_weight",
        "QS": "patient_disposition payment_typology_1 emergency_department_indicator",
        "S": "ccs_diagnosis_code ccs_diagnosis_description apr_drg_code apr_severity_of_illness_code total_charges "
        "total_costs",
    },
}

UNSEEN = {
    "ACS PUMS households (US Census)": {
        "D": "SERIALNO",
        "Q": "PUMA ST NP TYPE BDSP BLD HHL HHT RMSP TEN VEH YBL",
        "QS": "ACCESS VALP",
        "S": "ELEP FS FULP GASP HINCP MRGP RNTP",
        "O": "WGTP",
    },
    "NHANES demographics": {
        "D": "SEQN",
        "Q": "RIAGENDR RIDAGEYR RIDAGEMN RIDRETH3 RIDEXMON DMQMILIZ DMDBORN4 DMDCITZN DMDYRSUS DMDEDUC2 DMDMARTL "
        "SIALANG "
        "DMDHHSIZ DMDFMSIZ",
        "S": "RIDEXPRG INDHHIN2 INDFMPIR",
        "O": "SDDSRVYR RIDSTATR WTINT2YR WTMEC2YR SDMVPSU SDMVSTRA",
    },
    "NHANES examinations": {
        "D": "SEQN",
        "QS": "BMXWT BMXHT BMXBMI BMXWAIST",
        "S": "BPXSY1 BPXDI1 LBXTC LBXGH LBDHDD SMQ020 ALQ101 DIQ010 MCQ160B",
    },
    "MIMIC-IV laboratory": {
        "D": "labevent_id subject_id hadm_id specimen_id comments",
        "Q": "charttime storetime order_provider_id",
        "QS": "itemid priority",
        "S": "value valuenum flag",
        "SO": "valueuom ref_range_lower ref_range_upper",
    },
    "SyntheticMass encounters (Synthea)": {
        "D": "Id PATIENT",
        "Q": "START STOP ORGANIZATION PROVIDER PAYER ENCOUNTERCLASS",
        "QS": "CODE DESCRIPTION",
        "S": "BASE_ENCOUNTER_COST TOTAL_CLAIM_COST PAYER_COVERAGE REASONCODE REASONDESCRIPTION",
    },
    "bank marketing (UCI)": {
        "Q": "age job marital education",
        "QS": "housing contact day month duration campaign pdays previous poutcome y",
        "S": "default balance loan",
    },
    "IPUMS USA": {
        "D": "SERIAL CBSERIAL",
        "Q": "REGION STATEFIP GQ RELATE SEX AGE MARST BIRTHYR RACE HISPAN BPL CITIZEN YRSUSA1 LANGUAGE SPEAKENG SCHOOL "
        "EDUC EMPSTAT OCC IND VETSTAT TRANWORK",
        "QO": "YEAR PERNUM",
        "QS": "HCOVANY",
        "S": "INCTOT INCWAGE POVERTY",
        "O": "SAMPLE HHWT CLUSTER STRATA PERWT",
    },
    "Pima diabetes (UCI)": {
        "Q": "Age",
        "QS": "Pregnancies BMI SkinThickness",
        "S": "Glucose BloodPressure Insulin DiabetesPedigreeFunction Outcome",
    },
    "Telco churn (IBM)": {
        "D": "customerID",
        "Q": "gender SeniorCitizen Partner Dependents tenure PhoneService MultipleLines InternetService OnlineSecurity "
        "DeviceProtection TechSupport StreamingTV Contract PaperlessBilling PaymentMethod",
        "QS": "Churn",
        "S": "MonthlyCharges TotalCharges",
    },
    "student performance (UCI)": {
        "Q": "school sex age address famsize Pstatus Medu Fedu Mjob Fjob guardian traveltime nursery internet",
        "QS": "reason studytime schoolsup famsup paid activities higher romantic famrel freetime goout",
        "S": "failures Dalc Walc health absences G1 G2 G3",
    },
    "law school (LSAC)": {
        "Q": "fulltime male racetxt tier",
        "S": "decile1b decile3 lsat ugpa zfygpa zgpa fam_inc pass_bar",
    },
    "BRFSS (CDC)": {
        "Q": "_STATE IDATE FMONTH SEX MARITAL EDUCA EMPLOY1 CHILDREN",
        "QS": "WEIGHT2 HEIGHT3 HLTHPLN1 PERSDOC2",
        "S": "GENHLTH PHYSHLTH MENTHLTH MEDCOST CHECKUP1 CVDINFR4 ASTHMA3 DIABETE3 INCOME2 SMOKE100 ALCDAY5 HIVTST6",
        "O": "_LLCPWT _PSU _STSTR",
    },
    "stroke (Kaggle)": {
        "D": "id",
        "Q": "gender age ever_married work_type Residence_type",
        "QS": "bmi",
        "S": "hypertension heart_disease avg_glucose_level smoking_status stroke",
    },
    "PSID7682 (R, AER)": {
        "D": "id",
        "Q": "experience weeks occupation industry south smsa married gender education ethnicity",
        "QO": "year",
        "S": "union wage",
    },
    "CPS1985 (R, AER)": {
        "Q": "education experience age ethnicity region gender occupation sector married",
        "S": "wage union",
    },
    "lung (R, survival)": {
        "Q": "inst age sex",
        "QS": "time status wt.loss",
        "S": "ph.ecog ph.karno pat.karno meal.cal",
    },
    "HMDA loans (CFPB)": {
        "Q": "derived_msa_md state_code county_code census_tract applicant_ethnicity_1 applicant_race_1 applicant_sex "
        "applicant_age",
        "QO": "activity_year lei",
        "QS": "loan_type loan_purpose property_value",
        "S": "loan_amount interest_rate income debt_to_income_ratio denial_reason_1",
    },
    "voters (North Carolina)": {
        "D": "voter_reg_num ncid last_name first_name middle_name res_street_address mail_addr1 full_phone_number",
        "Q": "county_desc name_suffix_lbl res_city_desc state_cd zip_code race_code ethnic_code gender_code birth_year "
        "age_at_year_end birth_state registr_dt precinct_abbrv drivers_lic",
        "QO": "status_cd",
        "S": "party_cd",
    },
    "stops (NYPD)": {
        "D": "STOP_FRISK_ID",
        "Q": "STOP_FRISK_DATE SUSPECT_REPORTED_AGE SUSPECT_SEX SUSPECT_RACE_DESCRIPTION SUSPECT_HEIGHT SUSPECT_WEIGHT "
        "SUSPECT_HAIR_COLOR SUSPECT_EYE_COLOR STOP_LOCATION_PRECINCT STOP_LOCATION_ZIP_CODE",
        "S": "FIREARM_FLAG SUSPECT_ARRESTED_FLAG SUSPECT_ARREST_OFFENSE",
    },
    "European Social Survey": {
        "D": "idno",
        "Q": "cntry gndr agea yrbrn hhmmb eisced domicil mainact brncntr ctzcntr",
        "S": "rlgdgr rlgdnm polintr vote lrscale hinctnta happy health hlthhmp",
        "O": "dweight pspwght pweight",
    },
}
