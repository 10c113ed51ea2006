function cast(Caster, Target, Kind, Low, High)
    SpellDamage(Target, Kind, Low, High)
    AddControlEffect(Target, 5)
end

function remove(Caster, Target)
    RemoveControlEffect(Target, 5)
end
