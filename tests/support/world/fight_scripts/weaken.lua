function cast(Caster, Target, Amount)
    AddSpellBonus(Target, 200, Amount)
end

function remove(Caster, Target)
    RemoveSpellBonus(Target)
end
