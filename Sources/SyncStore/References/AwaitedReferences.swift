import SyncCore

/// What a payload says of links to rows that are not there, by id: in the order in which links were decided.
struct AwaitedReferences {
    private(set) var all: [(link: LinkID, assertions: [LinkBatch.Assertion])] = []

    var isEmpty: Bool { all.isEmpty }
    var count: Int { all.reduce(0) { $0 + $1.assertions.count } }

    mutating func add(_ assertions: [LinkBatch.Assertion], _ link: LinkID) {
        if !assertions.isEmpty { all.append((link, assertions)) }
    }

    /// What a link waits for.
    subscript(link: LinkID) -> [LinkBatch.Assertion] { all.first { $0.link == link }?.assertions ?? [] }
}
