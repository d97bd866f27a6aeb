/// Merges the results of payloads that come one after the other, as they come.
package struct MergedResults: Sendable {
    /// Of neighbouring payloads what they changed: each of as many payloads as the next ones together, so that no list
    /// is merged more often than there are doublings.
    private var parts: [(count: Int, result: SyncResult)] = []

    package init() {}

    package var isEmpty: Bool { parts.isEmpty }
    package var unresolvedCount: Int { parts.reduce(0) { $0 + $1.result.unresolved.count } }

    package mutating func add(_ result: SyncResult) {
        parts.append((1, result))
        while parts.count > 1, parts[parts.count - 2].count == parts[parts.count - 1].count { mergeLast() }
    }

    /// What all of them changed; nil if there are none.
    package mutating func merged() -> SyncResult? {
        while parts.count > 1 { mergeLast() }
        return parts.first?.result
    }

    package mutating func keepUnresolved(
        _ kept: ([SyncResult.UnresolvedReference]) throws -> [SyncResult.UnresolvedReference]
    ) rethrows {
        for index in parts.indices { parts[index].result.unresolved = try kept(parts[index].result.unresolved) }
    }

    private mutating func mergeLast() {
        let last = parts.removeLast()
        parts[parts.count - 1].count += last.count
        parts[parts.count - 1].result.merge(last.result)
    }
}
