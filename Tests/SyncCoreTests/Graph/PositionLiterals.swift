import SyncCore

extension TableID: ExpressibleByIntegerLiteral {
    package init(integerLiteral index: Int) { self.init(index) }
}

extension AssociationID: ExpressibleByIntegerLiteral {
    package init(integerLiteral index: Int) { self.init(index) }
}

extension NodeID: ExpressibleByIntegerLiteral {
    package init(integerLiteral index: Int) { self.init(index) }
}
