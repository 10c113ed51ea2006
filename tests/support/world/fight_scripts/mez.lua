function cast(Caster, Target)
    AddControlEffect(Target, 1)
    AddProc(Target, 2, 100.0)
end

function proc(Caster, Target, Kind)
    if Kind == 2 then CancelSpell() end
end

function remove(Caster, Target)
    RemoveControlEffect(Target, 1)
end
