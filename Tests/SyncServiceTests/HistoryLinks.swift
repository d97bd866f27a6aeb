import Sync

/// The to-one references in a history that devices wrote, and those that the service had. Rows are identified as in
/// ``HistoryLedger``.
struct HistoryLinks {
    /// The members of histories whose references are checked.
    static let members: Set<HistoryMember> = [.pairs, .absent, .partial]

    /// An entry of the conflict log.
    struct Logged: Hashable, Sendable {
        /// The entity and the key of the row.
        let row: String
        /// The name of the relationship or the attribute; empty for an entry about the whole row.
        let field: String
    }

    /// A to-one relationship of a row.
    fileprivate struct Owner: Hashable {
        let row: String
        let relationship: String
    }

    fileprivate struct Link: Hashable {
        let owner: Owner
        let target: String
    }

    /// The references that each device wrote and did not replace.
    fileprivate var written: [Int: [Owner: String]] = [:]
    fileprivate var ofService: Set<Link> = []
}

extension HistoryLedger {
    /// Records the references that a device wrote. References to rows that are not stored are not recorded.
    func noteLinks(of line: Line, replacing old: Line?, in rows: [String: Line], by device: Int) {
        let row = first(line.name)
        if (old?.project ?? "") != line.project {
            let project = rows["Project \(line.project)"].map { first($0.name) }
            links.written[device, default: [:]][HistoryLinks.Owner(row: row, relationship: "project")] = project
        }
        if (old?.badge ?? "") != line.badge {
            let tag = rows["Tag \(line.badge)"].map { first($0.name) }
            links.written[device, default: [:]][HistoryLinks.Owner(row: row, relationship: "badge")] = tag
        }
    }

    /// Records the references of the service.
    func recordLinks(_ contents: [String: [JSONValue: JSONValue]]) {
        let relationships = [("Task", "project", "project_id", "Project"), ("Project", "badge", "badge_id", "Tag")]
        for (entity, relationship, member, target) in relationships {
            for record in (contents[entity] ?? [:]).values {
                guard let id = record[member], let referenced = contents[target]?[id] else { continue }
                let owner = HistoryLinks.Owner(row: first(Self.name(record)), relationship: relationship)
                links.ofService.insert(HistoryLinks.Link(owner: owner, target: first(Self.name(referenced))))
            }
        }
    }

    /// Checks that each reference which a device wrote reached the service, or has an entry in the conflict log.
    /// References of deleted rows, and references to them, are not checked.
    ///
    /// - Parameters:
    ///   - lines: The rows of the device.
    ///   - logged: The entries of the conflict log.
    func judgeLinks(_ lines: [String: Line], logged: Set<HistoryLinks.Logged>, of device: Int) -> [String] {
        var places: [String: String] = [:]
        for (place, line) in lines { places[first(line.name)] = place }
        var found: [String] = []
        for (owner, target) in links.written[device] ?? [:] {
            guard let place = places[owner.row], places[target] != nil, deleted.isDisjoint(with: [owner.row, target]),
                !links.ofService.contains(HistoryLinks.Link(owner: owner, target: target))
            else { continue }
            let entries = [owner.relationship, ""].map { HistoryLinks.Logged(row: place, field: $0) }
            guard logged.isDisjoint(with: entries) else { continue }
            found.append("device \(device) lost the \(owner.relationship) \(target) of \(place), without a log entry")
        }
        return found.sorted()
    }
}
