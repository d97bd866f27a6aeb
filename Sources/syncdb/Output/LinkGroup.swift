import Sync

/// The links that one row gained and lost through one relationship.
struct LinkGroup {
    let owner: SyncResult.Link
    private(set) var added: [RecordKey] = []
    private(set) var removed: [RecordKey] = []

    /// The links of a result that no line about a row shows: of to-many relationships, and not those that went with a
    /// deleted row.
    static func groups(of result: SyncResult, toMany: (String, String) -> Bool) -> [LinkGroup] {
        var groups: [LinkGroup] = []
        var places: [SyncResult.Link: Int] = [:]
        let links =
            (result.addedLinks ?? []).map { ($0, true) } + (result.removedLinks ?? []).map { ($0, false) }
        let deleted = result.entities.mapValues { Set($0.deleted) }
        for (link, isAdded) in links
        where toMany(link.entity, link.relationship) && deleted[link.entity]?.contains(link.key) != true {
            var owner = link
            owner.target = link.key
            let place = places[owner] ?? groups.count
            places[owner] = place
            if place == groups.count { groups.append(LinkGroup(owner: owner)) }
            if isAdded { groups[place].added.append(link.target) } else { groups[place].removed.append(link.target) }
        }
        return groups.sorted { $0.owner < $1.owner }
    }
}
