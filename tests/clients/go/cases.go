// AMQP 0-9-1 cases, written as users of amqp091-go write them. Usage: cases HOST PORT
package main

import (
	"fmt"
	"os"
)

var groups = [][]testCase{
	connectionCases,
	exchangeCases,
	queueCases,
	publisherCases,
	messageCases,
	consumerCases,
	deadLetterCases,
}

func main() {
	url = fmt.Sprintf("amqp://guest:guest@%s:%s/", os.Args[1], os.Args[2])
	var cases []testCase
	for _, group := range groups {
		cases = append(cases, group...)
	}
	fmt.Printf("1..%d\n", len(cases))
	passed := true
	for _, test := range cases {
		passed = run(test) && passed
	}
	if !passed {
		os.Exit(1)
	}
}
