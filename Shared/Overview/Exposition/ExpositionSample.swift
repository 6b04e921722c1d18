/// One line of an exposition: a metric, its labels and its value.
package struct ExpositionSample: Equatable, Sendable {
    /// One label of a sample.
    package struct Label: Equatable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package let name: String
    package let labels: [Label]
    /// Any double, infinities and NaN included.
    package let value: Double

    package init(_ name: String, _ labels: [Label] = [], _ value: Double) {
        self.name = name
        self.labels = labels
        self.value = value
    }

    /// The value of a label; nil when the sample lacks it.
    package subscript(_ label: String) -> String? { self.labels.first { $0.name == label }?.value }
}
