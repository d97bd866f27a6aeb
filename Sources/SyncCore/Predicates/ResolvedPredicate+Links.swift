extension ResolvedPredicate {
    /// Whether it asks for anything but attributes of the row itself.
    package var followsLinks: Bool {
        switch self {
        case .constant: false
        case .not(let node): node.followsLinks
        case .and(let nodes), .or(let nodes): nodes.contains(where: \.followsLinks)
        case .comparison(let comparison): comparison.followsLinks
        case .calculation(let calculation): calculation.followsLinks
        case .related: true
        }
    }
}

extension ResolvedComparison {
    fileprivate var followsLinks: Bool {
        if case .attribute = subject { return many != nil || !hops.isEmpty }
        return true
    }
}
