extension PayloadMapper {
    /// Chooses the candidate that speaks for each relationship of one record: an object beats an id key, an id key beats a
    /// null object; then the stronger name, then the later key.
    mutating func chooseCandidates(from first: Int, _ entity: Int, _ tape: JSONTape, _ bytes: Bytes) {
        for index in first..<candidates.count {
            let relationship = candidates[index].relationship
            let rank = rank(of: candidates[index], entity, tape, bytes)
            candidates[index].rank = rank
            let known = best[relationship]
            if known < 0 || rank <= candidates[known].rank { best[relationship] = index }
        }
        for index in first..<candidates.count {
            let relationship = candidates[index].relationship
            let chosen = best[relationship]
            if chosen < 0 { continue }
            candidates[chosen].isChosen = true
            best[relationship] = -1
        }
    }

    private func rank(of candidate: Candidate, _ entity: Int, _ tape: JSONTape, _ bytes: Bytes) -> Int {
        if candidate.isIDKey { return 100 + candidate.strength }
        let relationship = tables.relationships[entity][candidate.relationship]
        let shape = RelationshipShape(
            tape, at: candidate.value, of: relationship, readsConnections: keyTables.readsConnections, bytes)
        if case .null = shape { return 200 + candidate.strength }
        return shape.fits(toMany: relationship.isToMany) ? candidate.strength : 300 + candidate.strength
    }

    /// The name under which a record stands fills an attribute. It counts more than what the record itself says: it is
    /// what tells the members apart.
    mutating func fillName(_ tape: JSONTape, _ context: Context, as entityID: Int, _ bytes: Bytes) throws {
        let (token, slot) = (Int(context.name), Int(context.nameSlot))
        let entity = model.entities[entityID]
        let type = tables.types[entity.table.index][slot]
        let attribute = diagnostics.name(of: slot, entity)
        guard let value = value(tape, at: token, for: slot, of: entity.table, as: type, bytes), value.kind != .null
        else {
            if entity.keySlots.contains(slot) { hasUnreadableKey = true }
            scratch[slot] = .absent
            let name = diagnostics.describe(tape, at: token, bytes)
            return try reportName(
                .valueDoesNotFit, entityID, bytes,
                "the name that it stands under, \(name), does not fit \(attribute), \(MappingDiagnostics.article(type))"
            )
        }
        if scratch[slot].kind != .null, areContrary(scratch[slot], value, bytes) {
            try reportName(
                .contradictingName, entityID, bytes,
                "the record has another \(attribute) than the name it stands under; the name counts")
        }
        hasUnreadableKey = hasUnreadableKey && !entity.keySlots.contains(slot)
        scratch[slot] = value
    }

    private mutating func reportName(
        _ kind: SyncResult.Diagnostic.Kind, _ entity: Int, _ bytes: Bytes, _ message: String
    ) throws {
        guard diagnostics.isStrict else { return report(kind, entity, bytes, message) }
        throw diagnostics.error(entity, path: path.text(bytes, keyTables.all), message)
    }
}
