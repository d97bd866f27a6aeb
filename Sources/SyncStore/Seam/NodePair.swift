package import SyncCore

/// A pair that is new, by its nodes.
package struct NodePair: Sendable {
    package var first: NodeID
    package var second: NodeID

    package func node(_ end: Link.End) -> NodeID { end == .first ? first : second }
}
