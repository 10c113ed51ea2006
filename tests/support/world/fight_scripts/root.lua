function cast(Caster, Target)
    AddControlEffect(Target, 5)
end

function remove(Caster, Target)
    RemoveControlEffect(Target, 5)
end
