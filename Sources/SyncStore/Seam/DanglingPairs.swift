package import SyncCore

/// Stored links that lead to rows which are not stored.
package struct DanglingPairs: Sendable {
    package let link: LinkID
    /// The keys at their ends; nil for NULL.
    package let pairs: [(first: RowKey?, second: RowKey?)]

    package init(_ link: LinkID, _ pairs: [(first: RowKey?, second: RowKey?)]) {
        self.link = link
        self.pairs = pairs
    }
}
