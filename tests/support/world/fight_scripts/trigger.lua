function cast(Caster, Target, Low, High)
    AddProc(Target, 15, 100)
    SetSpellTriggerCount(5, 1)
end

function proc(Caster, Target, Kind, Low, High)
    if Kind == 15 then
        SpellHeal("Heal", Low, High, Target)
        RemoveTriggerFromSpell()
    end
end

function remove(Caster, Target)
    RemoveProc(Target)
end
