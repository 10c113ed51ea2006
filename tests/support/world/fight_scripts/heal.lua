function cast(Caster, Target, Low, High)
    SpellHeal("Heal", Low, High)
end
