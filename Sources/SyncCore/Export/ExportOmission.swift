/// An attribute or a relationship that an export leaves out although the model does not say so.
public struct ExportOmission: Sendable, Hashable {
    /// Why it is left out.
    public enum Reason: String, Sendable, Hashable, CaseIterable, Codable {
        /// What its transformer makes of JSON cannot be turned back: give that an `exporting` direction.
        case noWayBack
        /// Every key from which it would be read again is taken by another: give it a remote key.
        case noKey
    }

    /// The entity whose rows lack it.
    public var entity: String
    /// The attribute or relationship.
    public var member: String
    /// Why it is left out.
    public var reason: Reason

    init(_ entity: CompiledEntity, _ member: String, _ reason: Reason) {
        self.entity = entity.name
        self.member = member
        self.reason = reason
    }
}

extension ExportOmission: CustomStringConvertible {
    /// `User.secret is left out of exports: there is no way back from what its transformer makes`
    public var description: String {
        switch reason {
        case .noWayBack:
            "\(entity).\(member) is left out of exports: there is no way back from what a transformer makes of it"
        case .noKey: "\(entity).\(member) is left out of exports: another member has the key it would be read from"
        }
    }
}
