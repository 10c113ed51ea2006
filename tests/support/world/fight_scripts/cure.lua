function cast(Caster, Target)
    CureByType(1, 3)
end
