package import SyncCore

/// The rows at the ends of a link.
package struct LinkedRows: Hashable, Sendable {
    package var first: RowKey
    package var second: RowKey

    package init(first: RowKey, second: RowKey) {
        self.first = first
        self.second = second
    }

    package func row(_ end: Link.End) -> RowKey { end == .first ? first : second }
}
