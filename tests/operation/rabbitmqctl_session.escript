#!/usr/bin/env escript
%% Runs many commands of RabbitMQ's rabbitmqctl, whose modules are in the code path, in one Erlang virtual machine,
%% because starting a virtual machine takes longer than all the commands.
%%
%%   rabbitmqctl FILE
%%
%% A line of the file is a list of arguments as an Erlang term. After each command, a line "\x1e" with its exit
%% code is written to standard output and standard error. The program's own name selects the available commands.
-mode(compile).

main([File]) ->
    {ok, Commands} = file:consult(File),
    logger:set_primary_config(level, none),
    {ok, _} = application:ensure_all_started(rabbitmqctl),
    lists:foreach(fun run/1, Commands).

run(Arguments) ->
    Words = [unicode:characters_to_binary(Argument) || Argument <- Arguments],
    Code = case 'Elixir.RabbitMQCtl':exec_command(Words, fun print/3) of
        {error, Number, nil} -> Number;
        {error, Number, Text} ->
            io:put_chars(standard_error, [Text, "\n"]),
            Number;
        _ -> 0
    end,
    [io:format(Device, "\x1e~b~n", [Code]) || Device <- [standard_io, standard_error]].

%% Like main of RabbitMQCtl.
print(Output, Command, Options) ->
    Formatter = 'Elixir.RabbitMQ.CLI.Core.Config':get_formatter(Command, Options),
    Printer = 'Elixir.RabbitMQ.CLI.Core.Config':get_printer(Command, Options),
    Formatted = 'Elixir.RabbitMQ.CLI.Core.Output':format_output(Output, Formatter, Options),
    'Elixir.RabbitMQ.CLI.Core.Output':print_output(Formatted, Printer, Options).
