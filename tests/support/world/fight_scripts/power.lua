function cast(Caster, Target, Low, High)
    SpellHeal("Power", Low, High)
end
