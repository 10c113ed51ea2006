function precast(Caster)
    return GetInfoStructUInt(Caster, "engaged_encounter") ~= 1
end

function cast(Caster, Target)
end
