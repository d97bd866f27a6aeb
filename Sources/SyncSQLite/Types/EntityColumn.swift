public import GRDB

/// A column as GRDB's query interface names it. A UUID is stored as text, so compare with its `uuidString`.
public typealias EntityColumn = Column
