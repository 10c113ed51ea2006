function precast(Caster, Target)
    return GetInfoStructUInt(Caster, "engaged_encounter") ~= 0
end

function cast(Caster, Target)
    StartHeroicOpportunity(Caster, 11)
end
