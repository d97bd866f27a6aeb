/// Where a row leads that has one link at most: to a node, to a stored row that is no node, or nowhere.
package struct LinkTarget: Hashable, Sendable {
    /// The node as it is stored, negative for none: other modules read it without a call.
    package let number: Int32

    /// Of a row that leads to none.
    package static let nowhere = LinkTarget(number: -1)
    /// Of a row that leads to a stored one of which the payload does not speak.
    package static let unmentioned = LinkTarget(number: -2)

    @inlinable package init(_ node: NodeID) { number = node.number }

    private init(number: Int32) { self.number = number }

    /// The node it leads to, if it is one.
    @inlinable package var node: NodeID? { number < 0 ? nil : NodeID(Int(number)) }

    // Other modules compare these at every row, where a synthesized operator is a call through the conformance.
    @inlinable
    package static func == (left: LinkTarget, right: LinkTarget) -> Bool { left.number == right.number }

    @inlinable
    package static func != (left: LinkTarget, right: LinkTarget) -> Bool { left.number != right.number }
}
