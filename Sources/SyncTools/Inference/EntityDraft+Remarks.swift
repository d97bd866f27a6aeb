import SyncCore

extension EntityDraft {
    var origins: [InferredOrigin] {
        members.map { name, member in
            let value = member.value
            let hasValues = value.scalars.count + value.singles + value.lists > value.emptyLists
            return InferredOrigin(
                entity: entity.name, member: name, key: member.key, hasValues: hasValues,
                isForObjects: value.objects > 0)
        }
    }

    var remarks: [InferenceRemark] {
        var remarks: [InferenceRemark] = []
        if let keys = entity.keys { remarks.append(.init(entity.name, "keys are spelled in \(keys.word)")) }
        if isKeyless {
            remarks.append(
                .init(
                    entity.name,
                    "keyless: \(inferred.object.count) objects without an id; each belongs to the row it is in"))
        } else {
            let found = inferred.key.map { inferred.object.members[$0]?.scalars.count ?? 0 }.min() ?? 0
            let missing = inferred.object.count - found
            let lack = missing > 0 ? ", \(missing) without it, which a sync skips" : ""
            let key = inferred.key.map { "'\($0)'" }.joined(separator: ", ")
            remarks.append(.init(entity.name, "\(inferred.object.count) objects with the key \(key)\(lack)"))
        }
        remarks += members.map { .init("\(entity.name).\($0.name)", evidence($0.member, $0.name)) }
        if !nameAttribute.isEmpty {
            remarks.append(.init("\(entity.name).\(nameAttribute)", "string: the names under which the objects stand"))
        }
        remarks += left.map { .init(entity.name, "the key '\($0)' is left out: nothing can be read from it") }
        return remarks + notes
    }

    private func evidence(_ member: InferredMember, _ name: String) -> String {
        let value = member.value
        let counts = [
            (value.scalars.count, "values"), (value.singles, "objects"), (value.objectLists, "lists of objects"),
            (value.scalarLists, "lists of values"), (value.emptyLists, "empty lists"),
            (value.otherLists, "mixed lists"),
            (value.scalars.nulls, "null"),
        ]
        let found = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        guard let relationship = relationship(name) else {
            let type = attributePlaces[name].map { entity.attributes[$0].type.rawValue } ?? ""
            return "\(type): \(found)"
        }
        return
            "to \(relationship.isToMany ? "many" : "one") \(relationship.destination) (key '\(member.key)'): \(found)"
            + (member.isOrdered ? ", ordered: not in the order of the keys" : "")
    }
}
