extension ModelValidator {
    mutating func checkRelationships() {
        for entity in entities {
            for relationship in entity.relationships {
                let path = ModelPath.relationship(relationship.name, of: entity.name)
                if relationship.isOrdered, !relationship.isToMany {
                    note(path["ordered"], "only a relationship to many can be ordered")
                }
                if relationship.remoteKey?.isEmpty ?? false { note(path["remoteKey"], "must not be empty") }
                if self.entity(named: relationship.destination) == nil {
                    note(path["entity"], unknown(relationship.destination))
                }
            }
        }
        checkInverses()
    }

    // MARK: Inverses

    /// Each of those that name one inverse is told of so many others.
    private static let namedClaimants = 5

    /// A relationship and the entity that declares it.
    private struct End: Hashable {
        var entity: String
        var name: String
    }

    /// Completes inverses that one side names; several that name the same one are refused.
    private mutating func checkInverses() {
        var claims: [End: [End]] = [:]
        for entity in entities {
            for relationship in entity.relationships {
                guard let inverse = checkedInverse(of: relationship, entity.name) else { continue }
                claims[inverse, default: []].append(End(entity: entity.name, name: relationship.name))
            }
        }
        for (index, entity) in entities.enumerated() {
            for (position, relationship) in entity.relationships.enumerated() where relationship.inverse == nil {
                let claimants = claims[End(entity: entity.name, name: relationship.name)] ?? []
                if claimants.count == 1 { setInverse(claimants[0].name, index, position) }
                guard claimants.count > 1 else { continue }
                for claimant in claimants {
                    let names = claimants.lazy.filter { $0 != claimant }.prefix(Self.namedClaimants)
                        .map { "\($0.entity).\($0.name)" }
                    let others = ShortList(Array(names), upTo: nil, of: claimants.count - 1)
                    note(
                        .relationship(claimant.name, of: claimant.entity)["inverse"],
                        "\(entity.name).\(relationship.name) is named as inverse by \(others.text) too")
                }
            }
        }
    }

    /// The end that a relationship names as its inverse, if it can be.
    private mutating func checkedInverse(of relationship: SyncModel.Relationship, _ owner: String) -> End? {
        guard let name = relationship.inverse else { return nil }
        let path = ModelPath.relationship(relationship.name, of: owner)["inverse"]
        let line = lineage(of: relationship.destination)
        guard let declarer = line.first(where: { self.relationship(name, of: $0.name) != nil }),
            let inverse = self.relationship(name, of: declarer.name)
        else {
            if isMissing(name, in: line) { note(path, "\(relationship.destination) has no relationship '\(name)'") }
            return nil
        }
        let place = "\(declarer.name).\(name)"
        guard entity(inverse.destination, isKindOf: owner) else {
            // An unknown destination is a problem of its own.
            if entity(named: inverse.destination) != nil {
                note(path, "\(place) does not point back: it leads to \(inverse.destination)")
            }
            return nil
        }
        if let back = inverse.inverse, back != relationship.name {
            note(path, "\(place) does not point back: its inverse is '\(back)'")
            return nil
        }
        return End(entity: declarer.name, name: name)
    }
}
