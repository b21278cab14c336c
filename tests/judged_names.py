"""Column names of five trades, each with the role that a person gave it before any program was asked.

D direct identifier, Q quasi-identifier, S sensitive. Left out are those of which the program says otherwise, with
reason or with a question beside its answer: notes, gift_message, last_login_at, bmi, payment_status, card_last4, and
data_usage_mb.
"""

JUDGED = {
    "customers": {
        "D": "customer_id first_name last_name email phone mobile_no street house_no loyalty_card_number "
        "avatar_url facebook_id",
        "Q": "birth_date gender city state zip country loyalty_tier signup_date preferred_language "
        "marketing_segment customer_since household_size marital_status",
        "S": "income_band credit_limit",
    },
    "orders": {
        "D": "order_id customer_id shipping_address ip_address iban",
        "Q": "order_date payment_type payment_method payment_date shipping_city delivery_date order_status "
        "discount_code quantity coupon_used sales_channel store_id cashier_id device_type",
        "S": "total_amount",
    },
    "patients": {
        "D": "mrn ssn insurance_number next_of_kin emergency_contact_phone gp_name",
        "Q": "dob age sex ethnicity race height_cm weight_kg ward room_no admission_date discharge_date "
        "length_of_stay insurance_type date_of_death",
        "S": "religion blood_type smoker allergies primary_diagnosis icd10_code medication hiv_status "
        "pregnant lab_result genotype disability",
    },
    "employees": {
        "D": "employee_id badge_number full_name work_email manager_id bank_account tax_id work_phone",
        "Q": "department job_title hire_date termination_date pay_frequency vacation_days office_location "
        "employment_type contract_type nationality veteran_status education_level years_of_service "
        "designation destination",
        "S": "salary salary_grade bonus union_member performance_rating sick_days parental_leave disciplinary_action",
    },
    "students": {
        "D": "student_id matriculation_number name guardian_name guardian_phone parent_email",
        "Q": "class grade_level school major enrollment_date graduation_year home_language bus_route "
        "dormitory study_program",
        "S": "gpa exam_score special_needs free_lunch tuition_fee scholarship_amount attendance_rate "
        "suspended sat_score",
    },
    "subscribers": {
        "D": "msisdn imsi imei phone_number sim_serial billing_address called_number ip_addr mac_address "
        "username password_hash",
        "Q": "tariff plan_type contract_start contract_end cell_id latitude longitude roaming device_model "
        "handset_brand churn billing_cycle payment_term voice_mail_enabled activation_date postcode",
        "S": "monthly_fee last_top_up_amount credit_score dunning_level",
    },
}
