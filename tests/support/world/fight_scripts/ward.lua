function cast(Caster, Target, Amount)
    AddWard(Amount)
end

function remove(Caster, Target)
    RemoveWard(Caster)
end
