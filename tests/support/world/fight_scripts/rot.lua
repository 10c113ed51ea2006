function cast(Caster, Target, Kind, Low, High)
    SpellDamage(Target, Kind, Low, High)
end

function tick(Caster, Target, Kind, Low, High)
    SpellDamage(Target, Kind, Low, High)
end
