/// An error that prevents a program in this package from continuing.
package struct Failure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
