import Sync

/// The one-to-one references of a service in a history. The service keeps them consistent, as a database does that
/// moves a link: the last reference to a row replaces the others, and a reference to a deleted row becomes null.
///
/// A project references its tag (`badge_id`), and two projects reference each other (`mate_id`).
struct OneToOneLinks {
    struct Correction {
        let project: JSONValue
        let members: JSONValue
    }

    /// The project of each tag.
    private var holders: [JSONValue: JSONValue] = [:]
    /// The mate of each project that has one.
    private var mates: [JSONValue: JSONValue] = [:]

    /// Returns the members to write so that the references of the projects are consistent.
    ///
    /// - Parameters:
    ///   - projects: The records by ID.
    ///   - isDeleted: Returns whether the service had a tag and deleted it.
    mutating func corrections(
        of projects: [JSONValue: JSONValue], isDeleted: (JSONValue) -> Bool
    ) -> [Correction] {
        let sorted = projects.sorted { $0.key.plain < $1.key.plain }
        return tagCorrections(of: sorted, isDeleted: isDeleted) + mateCorrections(of: sorted)
    }

    private mutating func tagCorrections(
        of projects: [(key: JSONValue, value: JSONValue)], isDeleted: (JSONValue) -> Bool
    ) -> [Correction] {
        var cleared: [JSONValue] = []
        var current: [JSONValue: JSONValue] = [:]
        for (id, record) in projects {
            guard let tag = Self.reference("badge_id", in: record) else { continue }
            if isDeleted(tag) {
                cleared.append(id)
            } else if let other = current[tag] {
                // The former holder loses the tag.
                let loser = holders[tag] == id ? id : other
                cleared.append(loser)
                current[tag] = loser == id ? other : id
            } else {
                current[tag] = id
            }
        }
        holders = current
        return cleared.map { Correction(project: $0, members: ["badge_id": .null]) }
    }

    private mutating func mateCorrections(
        of projects: [(key: JSONValue, value: JSONValue)]
    ) -> [Correction] {
        let ids = Set(projects.map(\.key))
        mates = mates.filter { ids.contains($0.key) && ids.contains($0.value) }
        let former = mates
        for (id, record) in projects {
            let mate = Self.reference("mate_id", in: record)
            guard mate != former[id] else { continue }
            if let old = mates.removeValue(forKey: id) { mates.removeValue(forKey: old) }
            guard let mate, ids.contains(mate), mate != id else { continue }
            if let other = mates.removeValue(forKey: mate) { mates.removeValue(forKey: other) }
            mates[id] = mate
            mates[mate] = id
        }
        var corrections: [Correction] = []
        for (id, record) in projects where Self.reference("mate_id", in: record) != mates[id] {
            corrections.append(Correction(project: id, members: ["mate_id": mates[id] ?? .null]))
        }
        return corrections
    }

    private static func reference(_ member: String, in record: JSONValue) -> JSONValue? {
        guard let id = record[member], id != .null else { return JSONValue?.none }
        return id
    }
}
