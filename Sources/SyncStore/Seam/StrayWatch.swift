/// Which stored rows matter although the plan has no node for them.
package struct StrayWatch {
    /// Of each foreign key of the table, whether rows may lose it to what the payload says of its targets.
    package let watched: [Bool]
    /// The entity whose rows all matter, because those that the payload leaves out are deleted; nil if there is none.
    package let scope: Int?
    /// Whether the payload is all there is: a link to a row that it does not mention is a rare thing then.
    package let speaksOfAll: Bool
    /// Says of some strays at a time which ones matter; nil if all do.
    package let keeping: (([Strays.Row]) throws -> [Strays.Row])?
}
